import { createRun, patchRun } from '../../../server/test/support/ci-runs.ts'
import { answer, type configureGate, openGate } from '../../../server/test/support/gates.ts'
import type { Json } from '../../../server/test/support/json.ts'
import { drainQueue } from '../../../server/test/support/queue.ts'
import type { TestConsole } from './console.ts'

/** A policy that blocks every deployment to `locked`. */
export const BLOCKING = `
name: Tests have passed
mode: enforce
bindings: { environments: [locked] }
rules:
  - rule: tests
    name: Unit tests ran and passed
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    trust: any
    reason: No test results were reported for this run.
  - rule: known
    name: The environment is known
    expression: environment.name == "locked"`

export type GateFields = Parameters<typeof configureGate>[2]

/** Opens a deployment of a new run, and returns its id. The environment has a gate already. */
export async function openDeployment(
  { api, caller }: TestConsole,
  environment: string,
  run: Json = {},
): Promise<string> {
  const { id: run_id } = await createRun(api, caller, run)
  return (await openGate(api, caller, { run_id, environment })).deployment_id
}

/** Deploys successfully: an API key approves, and the run succeeds. */
export async function deploy({ api, caller }: TestConsole, environment: string, run: Json = {}): Promise<string> {
  const { id: run_id } = await createRun(api, caller, run)
  const { deployment_id } = await openGate(api, caller, { run_id, environment })
  await answer(api, caller, deployment_id, 'approve')
  await patchRun(api, caller, run_id, { status: 'success' })
  await drainQueue(api)
  return deployment_id
}
