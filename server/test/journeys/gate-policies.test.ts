import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { SCOPES } from '../../src/access/scopes.ts'
import { settleDeployments } from '../../src/deployments/gates/settle-deployments.job.ts'
import { listUnevaluated } from '../../src/deployments/waiting-deployment.store.ts'
import { importKev } from '../../src/security/intel/import-source.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { sendReport, TESTS } from '../support/ci-reports.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import {
  answer,
  answerWithKey,
  approverOf,
  auditOf,
  configureGate,
  getDeployment,
  openGate,
  pollGate,
  REASON,
} from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { createPerson, ownCredential } from '../support/people.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, scoredResult } from '../support/sarif.ts'

function policy(mode: 'enforce' | 'monitor', { bindings = '', blocking = true } = {}): string {
  return `
name: Tests passed
mode: ${mode}
${bindings}
rules:
  - rule: tests
    name: The tests pass
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    trust: any
    blocking: ${blocking}
    reason: No job has reported passing tests.`
}

const EVERYWHERE = "bindings: { environments: ['*'] }"
const OVERRIDE = 'write:compliance-override'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller({ scopes: SCOPES.filter((scope) => scope !== OVERRIDE) })
})

type Given = { tested?: boolean; gate?: Parameters<typeof configureGate>[2] }

async function openWith({ tested = false, gate = {} }: Given = {}): Promise<Json> {
  await configureGate(api, caller, gate)
  const { id: run_id } = await createRun(api, caller, { ref: 'main' })
  if (tested) await sendReport(api, caller, run_id, { attestations: [TESTS] })
  return { ...(await openGate(api, caller, { run_id })), run_id }
}

const NAMED = { policies: ['Tests passed'] }

/** A CycloneDX report with one component and one vulnerability that affects it. */
function bomOf(id: string) {
  const component = { type: 'library', 'bom-ref': 'c', name: 'lib', purl: 'pkg:npm/lib@1.5.0' }
  const vulnerabilities = [{ id, affects: [{ ref: 'c' }] }]
  return { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components: [component], vulnerabilities }
}

/** Imports a KEV catalogue with one vulnerability. */
async function importExploited(cveID: string): Promise<void> {
  const dateAdded = api.clock.now().toISOString().slice(0, 10)
  const vulnerabilities = [{ cveID, dateAdded, dueDate: dateAdded, knownRansomwareCampaignUse: 'Unknown' }]
  const catalogue = { catalogVersion: '1', dateReleased: `${dateAdded}T00:00:00Z`, count: 1, vulnerabilities }
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-kev-'))
  const path = join(directory, 'kev.json')
  writeFileSync(path, JSON.stringify(catalogue))
  try {
    await importKev(api.services, path, () => {})
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test("if all rules of the gate's policy pass, the gate is approved at once and the deployment shows the evaluation", async () => {
  const { id } = await apply(api, caller, policy('enforce'))
  const gate = await openWith({ tested: true, gate: NAMED })
  assert.deepEqual([gate.decision, gate.status, gate.decided_by], ['approved', 'decided', 'policy'])
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
  const deployment = await getDeployment(api, caller, gate.deployment_id)
  assert.equal(deployment.status, 'approved')
  const { evaluation_id, at, ...evaluation } = deployment.policy_evaluation
  assert.ok(evaluation_id)
  assert.equal(at, api.clock.now().toISOString())
  assert.deepEqual(evaluation, {
    decision: 'approve',
    answered: 'approved',
    policies: [{ id, name: 'Tests passed', version: 1, mode: 'enforce', path: null, decision: 'approve' }],
  })
  const [entry] = await auditOf(api, caller, gate.deployment_id)
  assert.deepEqual(
    [entry?.principal_type, entry?.principal_name, entry?.action],
    ['policy', 'Tests passed', 'deployment.approve'],
  )
})

test('a gate without policies that requires two approvals keeps waiting when policies pass', async () => {
  await apply(api, caller, policy('enforce', { bindings: EVERYWHERE }))
  const gate = await openWith({ tested: true, gate: { requiredApprovals: 2 } })
  assert.equal(gate.decision, 'pending')
  assert.equal((await getDeployment(api, caller, gate.deployment_id)).policy_evaluation.decision, 'approve')
})

test('if a blocking rule fails, the gate waits with a note, and the deployment shows the evaluation', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  assert.deepEqual([gate.decision, gate.status], ['pending', 'waiting'])
  assert.equal(gate.note, 'Tests passed: No job has reported passing tests.')
  const { policy_evaluation } = await getDeployment(api, caller, gate.deployment_id)
  assert.deepEqual([policy_evaluation.decision, policy_evaluation.answered], ['block', null])
  assert.equal(policy_evaluation.policies[0].decision, 'block')
})

test('403 insufficient_scope for an approval against a policy without the override scope; a rejection does not need it', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  const details = assertError(await answer(api, caller, gate.deployment_id, 'approve'), 403, 'insufficient_scope')
  assert.deepEqual(details, { requiredScope: OVERRIDE })
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  assert.equal((await answer(api, caller, gate.deployment_id, 'reject')).body.data.status, 'rejected')
})

test('with the override scope the approval is recorded as an override with its rules, and audited as the key', async () => {
  const { id } = await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  const overrider = await api.caller({ orgId: caller.orgId })
  assert.equal((await answer(api, overrider, gate.deployment_id, 'approve')).body.data.status, 'approved')
  const deployment = await getDeployment(api, caller, gate.deployment_id)
  const { override, policy_evaluation } = deployment
  assert.equal(override.evaluation_id, policy_evaluation.evaluation_id)
  assert.deepEqual(override, {
    at: api.clock.now().toISOString(),
    user_id: null,
    email: null,
    display_name: 'test key',
    reason: REASON,
    self_override: false,
    gates: ['customRule'],
    evaluation_id: policy_evaluation.evaluation_id,
    evaluated_at: api.clock.now().toISOString(),
    policies: [
      {
        id,
        name: 'Tests passed',
        version: 1,
        decision: 'block',
        rules: [
          {
            rule: 'tests',
            name: 'The tests pass',
            status: 'fail',
            reason: 'No job has reported passing tests.',
          },
        ],
      },
    ],
  })
  const entries = await auditOf(api, caller, gate.deployment_id)
  const { keyId } = await approverOf(api, overrider)
  assert.deepEqual(entries.map(({ action, principal_id, reason }) => [action, principal_id, reason]).sort(), [
    ['deployment.approve', keyId, REASON],
    ['deployment.override', keyId, REASON],
  ])
})

test('an override is never earlier than the evaluation that it overrides', async (t) => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  const overrider = await api.caller({ orgId: caller.orgId })
  const { now } = api.clock
  t.mock.method(api.clock, 'now', () => {
    api.clock.advance(1)
    return now.call(api.clock)
  })
  await answer(api, overrider, gate.deployment_id, 'approve')
  const { override, approvals, updated_at } = await getDeployment(api, caller, gate.deployment_id)
  for (const at of [override.at, approvals[0].at, updated_at]) assert.ok(at >= override.evaluated_at, at)
})

test('self_override is true for a key of the person whose other key reported the run', async () => {
  caller = await api.caller()
  const person = await createPerson(api, caller)
  await ownCredential(api, person, caller.keyId)
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  const scopes = ['write:deployments', OVERRIDE] as const
  const own = await api.caller({ orgId: caller.orgId, scopes, createdByUserId: person.userId })
  assert.equal((await answerWithKey(api, own, gate.deployment_id, 'approve')).status, 200)
  assert.equal((await getDeployment(api, caller, gate.deployment_id)).override.self_override, true)
})

test("a gate's policy that does not exist blocks: approving needs the override scope", async () => {
  const gate = await openWith({ tested: true, gate: NAMED })
  assert.equal(gate.status, 'waiting')
  assert.match(gate.note, /Tests passed/)
  assertError(await answer(api, caller, gate.deployment_id, 'approve'), 403, 'insufficient_scope')
})

test('policies that cannot be read approve nothing', async () => {
  const gate = await openWith()
  const { sql } = api.services
  await sql`alter table policies rename to policies_away`
  try {
    // Nobody approves while it is not known who has changed the policies.
    assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).status, 500)
    const other = await createRun(api, caller)
    const opened = await openGate(api, caller, { run_id: other.id })
    assert.deepEqual([opened.status, opened.note], ['waiting', 'The policies could not be read.'])
  } finally {
    await sql`alter table policies_away rename to policies`
  }
  assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).status, 200)
})

test('in monitor mode a failing policy is shown and does not block; a passing one does not approve', async () => {
  await apply(api, caller, policy('monitor'))
  for (const tested of [false, true]) {
    const gate = await openWith({ tested, gate: { ...NAMED, name: `gate ${tested}` } })
    assert.equal(gate.decision, 'pending')
    const { policy_evaluation } = await getDeployment(api, caller, gate.deployment_id)
    assert.equal(policy_evaluation.policies[0].decision, tested ? 'approve' : 'warn')
    assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).body.data.status, 'approved')
  }
})

test('a failing rule that is not blocking does not block', async () => {
  await apply(api, caller, policy('enforce', { blocking: false }))
  const gate = await openWith({ gate: NAMED })
  assert.equal(gate.decision, 'pending')
  assert.equal((await answer(api, caller, gate.deployment_id, 'approve')).body.data.status, 'approved')
})

test('a blocked deployment is approved when the run sends the missing report', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  await sendReport(api, caller, gate.run_id, { attestations: [TESTS] })
  await drainQueue(api)
  const polled = (await pollGate(api, gate)).body.data
  assert.deepEqual([polled.decision, polled.decided_by], ['approved', 'policy'])
})

test('a blocked deployment is approved when a report resolves the finding', async () => {
  await apply(
    api,
    caller,
    `
name: No critical
mode: enforce
rules:
  - rule: critical
    expression: findings.open.critical == 0`,
  )
  const repository = { repository: 'acme/api' }
  await uploadReport(api, caller, sarif([scoredResult('sqli', 9.8)]), repository)
  const gate = await openWith({ gate: { policies: ['No critical'] } })
  assert.equal(gate.status, 'waiting')
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([]), repository)
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
})

test('a blocked deployment is approved when the policy is relaxed', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  await apply(api, caller, policy('enforce').replace(/expression: .*/, "expression: 'true'"))
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
})

test('a blocked deployment is approved when the run ends as a rule requires', async () => {
  const ended = 'has(run.status) && run.status == "success"'
  await apply(api, caller, policy('enforce').replace(/expression: .*/, `expression: ${ended}`))
  const gate = await openWith({ gate: NAMED })
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  await patchRun(api, caller, gate.run_id, { status: 'success' })
  await drainQueue(api)
  const { status, decided_by } = (await pollGate(api, gate)).body.data
  assert.deepEqual([status, decided_by], ['decided', 'policy'])
})

test('a blocked deployment is approved when new vulnerability data satisfies a rule', async () => {
  const rule = 'issues.known_exploited == 1'
  await apply(api, caller, policy('enforce').replace(/expression: .*/, `expression: ${rule}`))
  await uploadReport(api, caller, bomOf('CVE-2021-44228'), { repository: 'acme/api' })
  const gate = await openWith({ gate: NAMED })
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.status, 'waiting')
  await importExploited('CVE-2021-44228')
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
})

test('events of a run do not change a decided gate or a gate of a failed run', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  await answer(api, caller, gate.deployment_id, 'reject')
  await sendReport(api, caller, gate.run_id, { attestations: [TESTS] })
  await drainQueue(api)
  assert.equal((await pollGate(api, gate)).body.data.decision, 'rejected')

  await configureGate(api, caller, { ...NAMED, name: 'other', environment: 'staging' })
  const { id: run_id } = await createRun(api, caller, { commit_sha: 'b'.repeat(40) })
  const failed = await openGate(api, caller, { run_id, environment: 'staging' })
  await sendReport(api, caller, run_id, { attestations: [TESTS] })
  await patchRun(api, caller, run_id, { status: 'failure' })
  await drainQueue(api)
  assert.equal((await pollGate(api, failed)).body.data.status, 'cancelled')
})

test('beside many lost evaluations of one organization, that of another is found', async () => {
  const { sql } = api.services
  const [loud, quiet] = [await api.caller(), await api.caller()]
  for (const own of [loud, quiet]) {
    await configureGate(api, own)
    const { id: run_id } = await createRun(api, own, { ref: 'main' })
    const { deployment_id } = await openGate(api, own, { run_id })
    await sql`update deployments set policies_asked_at = null where org_id = ${own.orgId} and id = ${deployment_id}`
  }
  await sql`
    insert into deployments
    select (jsonb_populate_record(lost, jsonb_build_object('id', lost.id || '-' || number))).*
    from deployments lost, generate_series(1, 1200) as number
    where org_id = ${loud.orgId}`
  await sql`update deployments set created_at = created_at - interval '1 minute' where org_id = ${loud.orgId}`
  api.clock.advance(120_000)
  const now = api.clock.now()
  const found = await listUnevaluated(sql, { createdBefore: now, now })
  assert.equal(found.filter(({ org_id }) => org_id === quiet.orgId).length, 1)
  assert.equal(found.filter(({ org_id }) => org_id === loud.orgId).length, 100)
  await sql`delete from deployments where org_id = ${loud.orgId} and id like '%-%'`
})

test('a gate whose evaluation was interrupted is evaluated by the scheduled job', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  await sendReport(api, caller, gate.run_id, { attestations: [TESTS] })
  await api.services.sql`update deployments set policies_asked_at = null where id = ${gate.deployment_id}`
  api.clock.advance(120_000)
  await settleDeployments.run(api.services, {})
  await drainQueue(api, 'event report.changed')
  assert.equal((await pollGate(api, gate)).body.data.decision, 'approved')
})

test('of a simultaneous answer and policy approval exactly one decides', async () => {
  await apply(api, caller, policy('enforce'))
  const gate = await openWith({ gate: NAMED })
  await sendReport(api, caller, gate.run_id, { attestations: [TESTS] })
  const [rejected] = await Promise.all([answer(api, caller, gate.deployment_id, 'reject'), drainQueue(api)])
  const { decision, decided_by } = (await pollGate(api, gate)).body.data
  assert.deepEqual(
    [decision, decided_by],
    rejected.status === 200 ? ['rejected', 'api_key:test key'] : ['approved', 'policy'],
  )
  assert.equal((await auditOf(api, caller, gate.deployment_id)).length, 1)
})
