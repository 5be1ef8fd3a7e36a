import { pollAfterSeconds, stateAt } from '../gate-state.ts'
import type { DeploymentGate } from './gate.schema.ts'
import type { StoredGate } from './opened-gate.store.ts'

/** The wire form of an opened gate at `now`. `baseUrl` is where the console is. */
export function toDeploymentGate(gate: StoredGate, baseUrl: string, now: Date): DeploymentGate {
  const { status, decision, decided_by, note } = stateAt(gate, now)
  return {
    gate_id: gate.id,
    deployment_id: gate.deployment_id,
    environment: gate.environment,
    gate: gate.gate,
    decision,
    status,
    decided_by,
    note,
    url: `${baseUrl}/deployments/${gate.deployment_id}`,
    poll_after_seconds: pollAfterSeconds(gate.created_at, now),
  }
}
