import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Actor } from '../../src/access/actor.ts'
import { findSubject } from '../../src/deployments/decisions/evaluate-policies.ts'
import { findDeploymentState } from '../../src/deployments/deployment-state.store.ts'
import { approveAhead } from '../../src/deployments/gates/approve-ahead.ts'
import { openGate } from '../../src/deployments/gates/open-gate.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { sendReport, TESTS } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { auditOf, configureGate, postGate } from '../support/gates.ts'
import { apply } from '../support/policies.ts'

const POLICY = `
name: Tests passed
mode: enforce
rules:
  - rule: tests
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    trust: any`

let api: TestApi
let caller: Caller
let key: { org_id: string; run_id: string; attempt: number; environment: string; job: string }

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  await apply(api, caller, POLICY)
  await configureGate(api, caller, { policies: ['Tests passed'] })
  const { id: run_id } = await createRun(api, caller, { ref: 'main', commit_sha: 'b'.repeat(40) })
  await sendReport(api, caller, run_id, { attestations: [TESTS] })
  key = { org_id: caller.orgId, run_id, attempt: 1, environment: 'production', job: '' }
})

test('an early approval is of the deployment as it is stored', async () => {
  const { approval } = await approveAhead(api.services, key, 'dep_0')
  const { body } = await postGate(api, caller, { run_id: key.run_id, environment: 'production' })
  const deployment = { org_id: caller.orgId, id: body.data.deployment_id }
  const state = await findDeploymentState(api.services.sql, deployment, null)
  assert.ok(approval && state)
  const stored = await findSubject(api.services.sql, state, api.clock.now())
  assert.deepEqual({ ...approval.subject, deployment_id: deployment.id }, stored)
})

test('of twelve simultaneous requests one opens the gate, approved with one audit entry', async () => {
  const request = () => postGate(api, caller, { run_id: key.run_id, environment: 'production' })
  const answers = await Promise.all(Array.from({ length: 12 }, request))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  assert.deepEqual(new Set(answers.map(({ body }) => body.data.decision)), new Set(['approved']))
  const [deploymentId, ...others] = new Set(answers.map(({ body }) => body.data.deployment_id))
  assert.equal(others.length, 0)
  assert.equal((await auditOf(api, caller, deploymentId)).length, 1)
})

/** Opens the gate, and runs `change` between the evaluation and the transaction that stores it. */
async function openAfter(change: () => Promise<unknown>) {
  let changing: Promise<unknown> | null = null
  const sql = new Proxy(api.services.sql, {
    get: (of, name) => {
      if (name !== 'begin') return Reflect.get(of, name)
      return async (work: never) => {
        changing ??= change()
        await changing
        return of.begin(work)
      }
    },
  })
  const actor = { org_id: caller.orgId, credential: { id: caller.keyId } } as Actor
  const { gate } = await openGate({ ...api.services, sql }, actor, key)
  return gate
}

test('an approval does not hold if a gate that covers the deployment is configured meanwhile', async () => {
  const gate = await openAfter(() => configureGate(api, caller, { name: 'People', requiredApprovals: 2 }))
  assert.equal(gate.decision, 'pending')
})

test('an approval does not hold if the run changes its branch meanwhile', async () => {
  await configureGate(api, caller, { name: 'Other', branch: 'other', policies: ['Unknown'] })
  const { sql } = api.services
  const gate = await openAfter(() => sql`update ci_runs set ref = 'refs/heads/other' where id = ${key.run_id}`)
  assert.equal(gate.decision, 'pending')
  assert.match(gate.note ?? '', /Unknown/)
})

test('a report that arrives while a blocking verdict is reached is not missed', async () => {
  await api.services.sql`delete from ci_attestations where org_id = ${caller.orgId}`
  const gate = await openAfter(() => sendReport(api, caller, key.run_id, { attestations: [TESTS] }))
  assert.equal(gate.decision, 'approved')
})
