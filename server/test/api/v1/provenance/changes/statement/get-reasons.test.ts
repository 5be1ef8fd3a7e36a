import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../../../../../src/audit/audit.store.ts'
import { updatePlan } from '../../../../../../src/organizations/organization.store.ts'
import { settleBreaks } from '../../../../../../src/provenance/chain/acknowledge-breaks.ts'
import type { ChangeRecord } from '../../../../../../src/provenance/changes/change-record.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError } from '../../../../../support/assert-error.ts'
import { hostPullRequest } from '../../../../../support/host-objects.ts'
import type { Json } from '../../../../../support/json.ts'
import { type Landed, landIn } from '../../../../../support/landings.ts'
import { amendChange, recordChange } from '../../../../../support/recorded-changes.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const ask = (id: string, { key }: Caller): Promise<Answer> =>
  api.request('GET', `/v1/provenance/changes/${id}/statement`, { key })

/** The only reason of a 409. */
async function conflictOf(id: string, caller: Caller): Promise<string> {
  const { reason, ...others } = assertError(await ask(id, caller), 409, 'statement_unavailable')
  assert.deepEqual(others, {})
  return reason
}

/** An organization whose code host has told of pull request 7. */
async function withPullRequest(fields: Parameters<typeof hostPullRequest>[0]): Promise<[Caller, Landed]> {
  const at = api.clock.now()
  const landed = await landIn(api)
  const data = hostPullRequest({ number: 7, merged_at: at, closed_at: at, updated_at: at, ...fields })
  await landed.tell({ kind: 'pull_request', data })
  return [await api.caller({ orgId: landed.source.org_id }), landed]
}

const OPEN = { state: 'open', merged_at: null, closed_at: null, merge_commit_sha: null, merged_by: null } as const

test('409 NOT_LANDED for a pull request that is open, or was closed without merging', async () => {
  const [caller] = await withPullRequest(OPEN)
  assert.equal(await conflictOf('pr_github_1001_7', caller), 'NOT_LANDED')
  const [other] = await withPullRequest({ ...OPEN, state: 'closed', closed_at: api.clock.now() })
  assert.equal(await conflictOf('pr_github_1001_7', other), 'NOT_LANDED')
})

test('409 NO_COMMIT for a merged pull request whose commit is not known yet', async () => {
  const [caller] = await withPullRequest({ merge_commit_sha: null })
  assert.equal(await conflictOf('pr_github_1001_7', caller), 'NO_COMMIT')
})

test('404 NO_CHANGE until the record of a merged pull request is written, then its statement', async () => {
  const [caller, landed] = await withPullRequest({})
  const answer = await ask('pr_github_1001_7', caller)
  assert.deepEqual(assertError(answer, 404, 'not_found'), { reason: 'NO_CHANGE' })
  api.clock.advance(3_600_000)
  await landed.work()
  const [record] = await landed.records()
  const statement = await ask('pr_github_1001_7', caller)
  assert.equal(statement.status, 200, statement.text)
  assert.equal(statement.text, (await ask(record?.id ?? '', caller)).text)
})

test('404 without a reason for an unknown pull request, repository, provider and organization', async () => {
  const [caller] = await withPullRequest(OPEN)
  for (const id of ['pr_github_1001_8', 'pr_github_1002_7', 'pr_gitlab_1001_7', 'pr_github_1001_07', 'pr_1001_7'])
    assert.deepEqual(assertError(await ask(id, caller), 404, 'not_found'), {}, id)
  assert.deepEqual(assertError(await ask('pr_github_1001_7', await api.caller()), 404, 'not_found'), {})
})

test('the plan comes after an unknown id and before every reason', async () => {
  const open = await withPullRequest(OPEN)
  const unknown = await withPullRequest({ merge_commit_sha: null })
  const waiting = await withPullRequest({})
  for (const [caller] of [open, unknown, waiting]) {
    await updatePlan(api.services.sql, await slugOf(caller), 'business')
    const later = await api.caller({ orgId: caller.orgId })
    assert.deepEqual(assertError(await ask('pr_github_1001_8', later), 404, 'not_found'), {})
    const details = assertError(await ask('pr_github_1001_7', later), 402, 'plan_required')
    assert.deepEqual(details, { requiredPlan: 'enterprise' })
  }
})

test('409 CHAIN_BROKEN for every change of a repository with a changed record, and for no other repository', async () => {
  const caller = await api.caller()
  const [first, second] = [await record(caller), await record(caller)]
  const elsewhere = await record(caller, '1002')
  await changeBody(first)
  assert.equal(await conflictOf(first.id, caller), 'CHAIN_BROKEN')
  assert.equal(await conflictOf(second.id, caller), 'CHAIN_BROKEN')
  assert.equal((await ask(elsewhere.id, caller)).status, 200)
})

test('a statement that was issued before a chain broke keeps its bytes, also if its own links were changed', async () => {
  const caller = await api.caller()
  const [first, second, third] = [await record(caller), await record(caller), await record(caller)]
  const issued = [await ask(first.id, caller), await ask(second.id, caller)]
  await api.services.sql`update chain_links set hash = sha256(hash) where change_id = ${first.id}`
  assert.equal(await conflictOf(third.id, caller), 'CHAIN_BROKEN')
  for (const [at, { id }] of [first, second].entries()) assert.equal((await ask(id, caller)).text, issued[at]?.text)
})

test('409 CHAIN_BROKEN if an amendment far away from the record and the last amendment was removed', async () => {
  const caller = await api.caller()
  const changed = await record(caller)
  await recordMany(caller, 70)
  await amendChange(api.services, caller.orgId, changed)
  await recordMany(caller, 130)
  await amendChange(api.services, caller.orgId, changed)
  await api.services.sql`delete from chain_links where change_id = ${changed.id} and index = 71`
  assert.equal(await conflictOf(changed.id, caller), 'CHAIN_BROKEN')
})

test('after an acknowledgement, later statements name the mismatch', async () => {
  const caller = await api.caller()
  const [first, second] = [await record(caller), await record(caller)]
  await changeBody(first)
  assert.equal(await conflictOf(second.id, caller), 'CHAIN_BROKEN')
  const chain = { org_id: caller.orgId, provider: 'github', repository_id: '1001' }
  const principal = COMMAND_LINE
  const note = 'A backup was restored by hand.'
  const [found, ...others] = await settleBreaks(api.services, chain, { principal, note })
  assert.deepEqual(others, [])
  const answer = await ask(second.id, caller)
  const { breaks } = predicateOf(answer)
  const at = api.clock.now().toISOString()
  assert.deepEqual(breaks, [
    {
      index: 0,
      expected: found?.expected.toString('hex'),
      found: found?.found?.toString('hex'),
      found_at: at,
      note,
      acknowledged_at: at,
    },
  ])
  assert.equal((await ask(second.id, caller)).text, answer.text)
  assert.deepEqual(predicateOf(await ask((await record(caller)).id, caller)).breaks, breaks)
})

test('an acknowledged chain has no statement of a record that is missing or cannot be read', async () => {
  const caller = await api.caller()
  const [missing, unreadable] = [await record(caller), await record(caller)]
  const { sql } = api.services
  await sql`delete from chain_links where change_id = ${missing.id}`
  await sql`update chain_links set body = left(body, 20) where change_id = ${unreadable.id}`
  assert.equal(await conflictOf(missing.id, caller), 'CHAIN_BROKEN')
  const chain = { org_id: caller.orgId, provider: 'github', repository_id: '1001' }
  await settleBreaks(api.services, chain, { principal: COMMAND_LINE, note: 'The records were lost.' })
  assert.equal(await conflictOf(missing.id, caller), 'CHAIN_BROKEN')
  assert.equal(await conflictOf(unreadable.id, caller), 'CHAIN_BROKEN')
})

function record(caller: Caller, id = '1001'): Promise<ChangeRecord> {
  const repository = { provider: 'github', host: 'github.com', id, full_name: `acme/shop-${id}` }
  return recordChange(api.services, caller.orgId, { repository })
}

async function recordMany(caller: Caller, count: number): Promise<void> {
  for (let recorded = 0; recorded < count; recorded += 1) await record(caller)
}

async function changeBody({ id }: ChangeRecord): Promise<void> {
  await api.services.sql`update chain_links set body = replace(body, 'alice', 'mallory') where change_id = ${id}`
}

function predicateOf({ status, body, text }: Answer): Json {
  assert.equal(status, 200, text)
  return JSON.parse(Buffer.from(body.data.envelope.payload, 'base64').toString()).predicate
}

async function slugOf({ orgId }: Caller): Promise<string> {
  const [row] = await api.services.sql<[{ slug: string }]>`select slug from organizations where id = ${orgId}`
  return row.slug
}
