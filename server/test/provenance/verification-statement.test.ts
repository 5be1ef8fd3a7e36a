import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { COMMAND_LINE, OPERATOR } from '../../src/audit/audit.store.ts'
import type { HostDeployment } from '../../src/codehosts/host-deployment.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { updateGate } from '../../src/deployments/gates/configure-gate.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/clock.ts'
import { toCanonicalJson } from '../../src/platform/crypto/signed-bytes.ts'
import { settleBreaks } from '../../src/provenance/chain/acknowledge-breaks.ts'
import type { ChangeRecord } from '../../src/provenance/changes/change-record.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { verifyLink } from '../support/chains.ts'
import { ALICE, commitOf, mergedRecord, NO_RULES } from '../support/change-records.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { answer, configureGate, openGate } from '../support/gates.ts'
import {
  applyEvents,
  gateRequest,
  hostDeployment,
  hostEnvironment,
  hostReview,
  hostStatus,
  minute,
  REVIEWED,
} from '../support/host-deployments.ts'
import { insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { applyRuns, completedRun } from '../support/provider-runs.ts'
import { drainQueue } from '../support/queue.ts'
import { amendChange, recordChange } from '../support/recorded-changes.ts'
import { askStatement, assertReason, getStatement } from '../support/statements.ts'

const COMMIT = 'a'.repeat(40)
const ID = 'gh_deployment_501'
const REPOSITORY = { provider: 'github', host: 'github.com', id: '1001', full_name: 'acme/shop' }
const PROTECTED = { ...NO_RULES, requires_pull_request: true, blocks_force_pushes: true, blocks_deletion: true }

const host = fakeCodeHost({
  listDeploymentReviews: async () => [],
  readCommits: async () => [],
  readFile: async () => null,
  readAccount: async () => null,
})
let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  host.answers.readEnvironment = async () => hostEnvironment()
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
})

const ask = (id = ID, by = caller) => askStatement(api, by, id, 'verification')
const summary = async (id = ID): Promise<Json> => (await getStatement(api, caller, id, 'verification')).predicate

async function arrive(...events: HostEvent[]): Promise<void> {
  await applyEvents(api, source, events)
  await drainQueue(api)
}

/** The commit of the deployment lands by a reviewed pull request, with other facts if given. */
async function land(fields: Partial<ChangeRecord> = {}): Promise<ChangeRecord> {
  const { commits } = mergedRecord()
  return recordChange(api.services, caller.orgId, {
    repository: REPOSITORY,
    commits: { ...commits, merge: COMMIT },
    ...fields,
  })
}

/** The deployment waits for our rule. */
async function wait(deployment: HostDeployment = hostDeployment()): Promise<void> {
  await arrive(
    { kind: 'deployment', data: deployment },
    { kind: 'deployment_status', data: hostStatus('waiting', minute(1), deployment) },
    { kind: 'gate_request', data: gateRequest({ deployment, run: { id: deployment.run?.id ?? '', attempt: null } }) },
  )
}

/** The deployment goes on and succeeds, and its run ends. */
async function succeed(deployment: HostDeployment = hostDeployment()): Promise<void> {
  await arrive(
    { kind: 'deployment_status', data: hostStatus('in_progress', minute(10), deployment) },
    { kind: 'deployment_status', data: hostStatus('success', minute(11), deployment) },
  )
  await applyRuns(api.services, source, completedRun({}, 12))
}

/** A gate covers the deployment; a key approves it; it succeeds. */
async function deploy(): Promise<void> {
  await configureGate(api, caller)
  await wait()
  assert.equal((await answer(api, caller, ID, 'approve')).status, 200)
  await succeed()
}

const policy = (passes: boolean, mode = 'enforce') => `
name: Check
mode: ${mode}
bindings: { environments: [production] }
rules:
  - rule: check
    name: The check passes
    expression: '${passes}'
    trust: any
    reason: The check fails.`

const sha256 = (value: unknown) => createHash('sha256').update(toCanonicalJson(value)).digest('hex')

test('200 with the result, the levels and the digests of the statements that it was made from', async () => {
  const record = await land({ branch_rules: PROTECTED })
  await deploy()
  const { subject, predicate } = await getStatement(api, caller, ID, 'verification')
  assert.deepEqual(subject, [{ name: 'git+https://github.com/acme/shop', digest: { gitCommit: COMMIT } }])
  assert.equal(predicate.verifier.id, 'https://shiplock.dev/verifier/v1')
  assert.match(predicate.verifier.version.shiplock, /^\d+\.\d+\.\d+/)
  assert.equal(predicate.timeVerified, api.clock.now().toISOString())
  assert.equal(predicate.resourceUri, 'git+https://github.com/acme/shop?environment=production')
  assert.deepEqual(predicate.policy, { uri: 'https://shiplock.dev/policies/v1', digest: { sha256: sha256([]) } })
  assert.equal(predicate.verificationResult, 'PASSED')
  assert.deepEqual(predicate.verifiedLevels, ['SHIPLOCK_REVIEWED', 'SHIPLOCK_GATED', 'SLSA_SOURCE_LEVEL_3'])
  const paths = [`changes/${record.id}/statement`, `deployments/${ID}/lineage/statement`]
  for (const [position, path] of paths.entries()) {
    const url = `/v1/provenance/${path}`
    const { body } = await api.request('GET', url, { key: caller.key })
    assert.deepEqual(predicate.inputAttestations[position], {
      uri: api.services.config.baseUrl + url,
      digest: { sha256: body.data.statement_digest.replace('sha256:', '') },
    })
  }
})

test('the lineage statement names the change, the verified run and the approvals', async () => {
  const record = await land({ deviations: ['self_approved'] })
  host.answers.readEnvironment = async () => REVIEWED
  await configureGate(api, caller)
  await wait()
  await answer(api, caller, ID, 'approve')
  await arrive({ kind: 'deployment_review', data: hostReview('approved') })
  await succeed()
  const { predicate } = await getStatement(api, caller, ID, 'lineage/statement')
  assert.deepEqual(predicate.repository, REPOSITORY)
  const { change, deployment, runs } = predicate
  assert.deepEqual([change.id, change.record.merge_sha, change.chain.index], [record.id, COMMIT, 0])
  assert.deepEqual(change.record.pull_request, record.pull_request)
  assert.deepEqual([change.record.deviations, change.record.reviews.length], [['self_approved'], 1])
  assert.deepEqual(
    runs.map((run: Json) => [run.id, run.trust]),
    [['gh_run_9001', 'verified']],
  )
  assert.deepEqual([deployment.trust, deployment.status], ['verified', 'success'])
  assert.deepEqual(
    deployment.reviews.map((review: Json) => [review.reviewer, review.state]),
    [['grace', 'approved']],
  )
  assert.deepEqual(
    deployment.approvals.map((given: Json) => given.principal.name),
    ['test key'],
  )
  assert.deepEqual(deployment.required_reviewers, ['grace'])
})

test('the digest of the policy is that of the list of evaluated versions, also of policies in monitor', async () => {
  const enforced = await apply(api, caller, policy(true).replace(/^ *trust: any\n?/m, ''))
  const observed = await apply(api, caller, policy(false, 'monitor').replace('Check', 'Watch'))
  await land()
  await configureGate(api, caller, { policies: ['Check'] })
  await wait()
  await succeed()
  const { predicate } = await getStatement(api, caller, ID, 'lineage/statement')
  const versions = predicate.deployment.policies.policies.map((stated: Json) => [
    stated.id,
    stated.version,
    stated.sha256,
  ])
  assert.deepEqual(
    versions.map(([id]: [string]) => id),
    [enforced.id, observed.id],
  )
  const listed = versions.map(([id, version, sha256]: [string, number, string]) => ({ id, version, sha256 }))
  const { policy: stated, verifiedLevels } = await summary()
  assert.equal(stated.digest.sha256, sha256(listed))
  const levels = ['SHIPLOCK_REVIEWED', 'SHIPLOCK_POLICY_PASSED', 'SHIPLOCK_GATED', 'SLSA_SOURCE_LEVEL_1']
  assert.deepEqual(verifiedLevels, levels)
})

test('a policy that accepts evidence of every lane gives no level', async () => {
  await apply(api, caller, policy(true))
  await land()
  await configureGate(api, caller, { policies: ['Check'] })
  await wait()
  await succeed()
  const { verificationResult, verifiedLevels } = await summary()
  assert.equal(verificationResult, 'PASSED')
  assert.deepEqual(verifiedLevels, ['SHIPLOCK_REVIEWED', 'SHIPLOCK_GATED', 'SLSA_SOURCE_LEVEL_1'])
})

test('an overridden policy has not passed, but the deployment is not failed', async () => {
  await apply(api, caller, policy(false))
  await land()
  await deploy()
  const { verificationResult, verifiedLevels } = await summary()
  assert.equal(verificationResult, 'PASSED')
  assert.deepEqual(verifiedLevels, ['SHIPLOCK_REVIEWED', 'SHIPLOCK_GATED', 'SLSA_SOURCE_LEVEL_1'])
})

test('a deployment that went on without our approval is FAILED', async () => {
  await land()
  await configureGate(api, caller)
  await wait()
  await succeed()
  const { verificationResult, verifiedLevels } = await summary()
  assert.deepEqual([verificationResult, verifiedLevels], ['FAILED', ['FAILED']])
  const { predicate } = await getStatement(api, caller, ID, 'lineage/statement')
  assert.deepEqual(predicate.deployment.bypass.gates, ['customRule'])
})

test('a deployment that we rejected and that succeeded all the same is FAILED', async () => {
  await land()
  await configureGate(api, caller)
  await wait()
  await answer(api, caller, ID, 'reject')
  await succeed()
  const { predicate } = await getStatement(api, caller, ID, 'lineage/statement')
  assert.equal(predicate.deployment.status, 'rejected')
  assert.equal((await summary()).verificationResult, 'FAILED')
})

test('a bypass of the reviewers of the host does not fail, but the deployment is not gated', async () => {
  await land()
  host.answers.readEnvironment = async () => REVIEWED
  await configureGate(api, caller)
  await wait()
  await answer(api, caller, ID, 'approve')
  await succeed()
  const { predicate } = await getStatement(api, caller, ID, 'lineage/statement')
  assert.deepEqual(predicate.deployment.bypass.gates, ['required_reviewers'])
  const { verificationResult, verifiedLevels } = await summary()
  assert.deepEqual([verificationResult, verifiedLevels], ['PASSED', ['SHIPLOCK_REVIEWED', 'SLSA_SOURCE_LEVEL_1']])
})

test('a superseded deployment, and one that was rolled back, did succeed', async () => {
  await land()
  await deploy()
  await arrive({ kind: 'deployment_status', data: hostStatus('inactive', minute(20)) })
  assert.equal((await ask()).status, 200)
})

test('the reasons in their order: NOT_PROTECTED, NO_COMMIT, NOT_DEPLOYED, NO_CHANGE', async () => {
  const { sql } = api.services
  const setCommit = (sha: string) => sql`update deployments set commit_sha = ${sha} where org_id = ${caller.orgId}`
  assertError(await ask('gh_deployment_1'), 404, 'not_found')
  await wait()
  await setCommit('')
  assertReason(await ask(), 404, 'NOT_PROTECTED')
  await configureGate(api, caller)
  await drainQueue(api)
  assertReason(await ask(), 409, 'NO_COMMIT')
  await setCommit(COMMIT)
  assertReason(await ask(), 409, 'NOT_DEPLOYED')
  await answer(api, caller, ID, 'approve')
  await arrive({ kind: 'deployment_status', data: hostStatus('success', minute(11)) })
  await applyRuns(api.services, source, completedRun({ status: 'in_progress', completed_at: null }, 11))
  assertReason(await ask(), 409, 'NOT_DEPLOYED')
  assertReason(await askStatement(api, caller, ID, 'lineage/statement'), 409, 'LINEAGE_NOT_READY')
  await applyRuns(api.services, source, completedRun({}, 12))
  assertReason(await ask(), 404, 'NO_CHANGE')
  assert.equal((await getStatement(api, caller, ID, 'lineage/statement')).predicate.change, null)
  await land()
  assert.equal((await ask()).status, 200)
})

test('RECORD_EXPIRED if the change landed before the retention, but the deployment did not', async () => {
  await land({ landed_at: new Date(api.clock.now().getTime() - 1096 * DAY_MS).toISOString() })
  await deploy()
  assertReason(await ask(), 409, 'RECORD_EXPIRED')
  assert.equal((await askStatement(api, caller, ID, 'lineage/statement')).status, 200)
})

test('a gate that was configured after the deployment does not protect it', async () => {
  await land()
  const created_at = new Date(api.clock.now().getTime() - MINUTE_MS)
  const deployment = hostDeployment({ created_at })
  await arrive({ kind: 'deployment', data: deployment })
  await succeed(deployment)
  await configureGate(api, caller)
  assertReason(await ask(), 404, 'NOT_PROTECTED')
})

test('a gate that was changed to cover the environment after the deployment does not protect it', async () => {
  await land()
  const created_at = new Date(api.clock.now().getTime() + MINUTE_MS)
  const { id } = await configureGate(api, caller, { environment: 'staging' })
  const deployment = hostDeployment({ created_at })
  await arrive({ kind: 'deployment', data: deployment })
  await succeed(deployment)
  api.clock.advance(2 * MINUTE_MS)
  await updateGate(api.services, { org_id: caller.orgId, id }, OPERATOR, { environment: 'production' })
  assertReason(await ask(), 404, 'NOT_PROTECTED')
})

/** Somebody with access to the database changes the record of a change. */
async function changeRecordBody(): Promise<void> {
  await api.services.sql`update chain_links set body = replace(body, 'bob', 'eve') where org_id = ${caller.orgId}`
}

test('over a broken chain, the lineage statement names the break, and no summary is issued: CHAIN_BROKEN', async () => {
  const { id } = await land()
  await deploy()
  await changeRecordBody()
  const { predicate } = await getStatement(api, caller, ID, 'lineage/statement')
  const { breaks, ...change } = predicate.change
  assert.deepEqual(change, { id, record: null, amendments: [], chain: null })
  assert.deepEqual(
    breaks.map((found: Json) => [found.index, found.acknowledged_at]),
    [[0, null]],
  )
  assertReason(await ask(), 409, 'CHAIN_BROKEN')
})

test('statements that were issued before the chain was broken stay available; later ones name the break', async () => {
  const { id } = await land()
  await deploy()
  const [summarized, path] = [await ask(), await askStatement(api, caller, ID, 'lineage/statement')]
  await changeRecordBody()
  assert.equal((await askStatement(api, caller, ID, 'lineage/statement')).text, path.text, 'nobody has noticed')
  const chain = { org_id: caller.orgId, provider: 'github', repository_id: '1001' }
  assert.equal((await verifyLink(api.services, chain, 0)).state, 'broken')
  assert.equal((await ask()).text, summarized.text)
  assert.notEqual((await askStatement(api, caller, ID, 'lineage/statement')).text, path.text)
  await api.services.sql`update chain_links set body = replace(body, 'eve', 'bob') where org_id = ${caller.orgId}`
  await settleBreaks(api.services, chain, { principal: COMMAND_LINE, note: 'It was restored.' })
  const { change } = (await getStatement(api, caller, ID, 'lineage/statement')).predicate
  assert.deepEqual([change.id, change.breaks[0].note], [id, 'It was restored.'])
  assert.equal(change.record.reviews[0].reviewer.login, 'bob')
  assert.notEqual((await ask()).text, summarized.text)
})

const OTHERS = { head: 'd'.repeat(40), base: null, merge: 'e'.repeat(40), complete: true }

test('an earlier commit of a reviewed pull request is not reviewed, and the branch did not protect it', async () => {
  const list = [commitOf(ALICE, COMMIT), commitOf(ALICE, OTHERS.head)]
  await land({ branch_rules: { ...PROTECTED, required_approvals: 1 }, commits: { ...OTHERS, list } })
  await deploy()
  assert.deepEqual((await summary()).verifiedLevels, ['SHIPLOCK_GATED', 'SLSA_SOURCE_LEVEL_1'])
})

test('a check that fails after the record was written lowers the source level', async () => {
  const record = await land({ branch_rules: PROTECTED })
  await deploy()
  assert.equal((await summary()).verifiedLevels.at(-1), 'SLSA_SOURCE_LEVEL_3')
  await amendChange(api.services, caller.orgId, { ...record, deviations: ['check_failed'] })
  assert.equal((await summary()).verifiedLevels.at(-1), 'SLSA_SOURCE_LEVEL_2')
})

test('a commit that was added to a change in the database breaks its chain, and never has the change', async () => {
  const { id } = await land({ commits: { ...OTHERS, list: [commitOf(ALICE, OTHERS.head)] } })
  await deploy()
  const chain = { org_id: caller.orgId, provider: 'github', repository_id: '1001' }
  await api.services.sql`insert into change_commits ${api.services.sql({ ...chain, sha: COMMIT, change_id: id })}`
  const { change } = (await getStatement(api, caller, ID, 'lineage/statement')).predicate
  assert.deepEqual([change.id, change.record, change.breaks.length], [id, null, 1])
  assertReason(await ask(), 409, 'CHAIN_BROKEN')
  await settleBreaks(api.services, chain, { principal: COMMAND_LINE, note: 'A test' })
  assert.equal((await getStatement(api, caller, ID, 'lineage/statement')).predicate.change, null)
  assertReason(await ask(), 404, 'NO_CHANGE')
})

test('a record that cannot be read does not prevent the lineage statement', async () => {
  await land()
  await deploy()
  await api.services.sql`update chain_links set body = left(body, 20) where org_id = ${caller.orgId}`
  assert.equal((await getStatement(api, caller, ID, 'lineage/statement')).predicate.change.record, null)
})

/** A self-reported run deploys a commit; a key approves; it succeeds. Returns the deployment. */
async function report(repository: string): Promise<string> {
  const run = await createRun(api, caller, { repository, commit_sha: COMMIT })
  const { deployment_id } = await openGate(api, caller, { run_id: run.id })
  assertReason(await ask(deployment_id), 409, 'NOT_DEPLOYED')
  await answer(api, caller, deployment_id, 'approve')
  await patchRun(api, caller, run.id, { status: 'success' })
  await drainQueue(api)
  return deployment_id
}

test('a self-reported deployment has no change, whatever repository and commit it names', async () => {
  await land()
  await configureGate(api, caller)
  for (const repository of ['https://github.com/Acme/shop', 'github.com/acme/other']) {
    const id = await report(repository)
    assert.equal((await getStatement(api, caller, id, 'lineage/statement')).predicate.change, null)
    assertReason(await ask(id), 404, 'NO_CHANGE')
  }
})

test('a repository that is synchronized for the first time has no statements yet', async () => {
  await land()
  await deploy()
  const { sql } = api.services
  const setState = (state: string) =>
    sql`update codehost_connections set sync_state = ${state} where id = ${source.connection_id}`
  await setState('running')
  assertReason(await askStatement(api, caller, ID, 'lineage/statement'), 409, 'LINEAGE_NOT_READY')
  assertReason(await ask(), 409, 'NOT_DEPLOYED')
  await setState('failed')
  assert.equal((await ask()).status, 200)
})

test('the same bytes at any later time; a new fact of the path or the change gives another statement', async () => {
  await land()
  await deploy()
  const first = await ask()
  api.clock.advance(DAY_MS)
  assert.equal((await ask()).text, first.text)
  await arrive({
    kind: 'deployment',
    data: hostDeployment({ id: '502', environment: 'staging', created_at: minute(-5) }),
  })
  assert.notEqual((await ask()).text, first.text)
})
