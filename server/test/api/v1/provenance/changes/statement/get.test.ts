import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../../../../../src/audit/audit.store.ts'
import { DAY_MS } from '../../../../../../src/platform/clock.ts'
import { toCanonicalJson } from '../../../../../../src/platform/crypto/signed-bytes.ts'
import { rotateKey } from '../../../../../../src/provenance/statements/rotate-key.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../support/assert-error.ts'
import type { Json } from '../../../../../support/json.ts'
import { amendChange, recordChange } from '../../../../../support/recorded-changes.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

const ask = (id: string, { key }: Caller = caller, query = ''): Promise<Answer> =>
  api.request('GET', `/v1/provenance/changes/${id}/statement${query}`, { key })

function statementOf({ status, body, text }: Answer): Json {
  assert.equal(status, 200, text)
  return JSON.parse(Buffer.from(body.data.envelope.payload, 'base64').toString())
}

test('200 with an in-toto statement about the landed commit, its record and the position in its chain', async () => {
  const record = await recordChange(api.services, caller.orgId)
  const answer = await ask(record.id)
  const statement = statementOf(answer)
  assert.deepEqual(Object.keys(answer.body.data), ['envelope', 'statement_digest'])
  assert.equal(statement._type, 'https://in-toto.io/Statement/v1')
  assert.equal(statement.predicateType, 'https://shiplock.dev/change-record/v1')
  assert.deepEqual(statement.subject, [
    { name: 'git+https://github.com/acme/widgets', digest: { gitCommit: record.commits.merge } },
  ])
  assert.deepEqual(Object.keys(statement.predicate).sort(), ['amendments', 'chain', 'record'])
  assert.deepEqual([statement.predicate.record, statement.predicate.amendments], [record, []])
  assert.equal(statement.predicate.chain.hash, linkHash(statement.predicate.chain.previous_hash, record))
})

test('the digest is that of the payload', async () => {
  const { id } = await recordChange(api.services, caller.orgId)
  const { envelope, statement_digest } = (await ask(id)).body.data
  const payload = Buffer.from(envelope.payload, 'base64')
  assert.equal(statement_digest, `sha256:${createHash('sha256').update(payload).digest('hex')}`)
})

test('the response has the same bytes at any time, also after the key was rotated', async () => {
  const { id } = await recordChange(api.services, caller.orgId)
  const first = await ask(id)
  api.clock.advance(DAY_MS)
  assert.equal((await ask(id)).text, first.text)
  await rotateKey(api.services, caller.orgId, COMMAND_LINE)
  assert.equal((await ask(id)).text, first.text)
})

test('a late fact gives a new statement, signed with the current key, and the earlier one stays stored', async () => {
  const record = await recordChange(api.services, caller.orgId)
  const first = await ask(record.id)
  api.clock.advance(1000)
  const { keyid } = await rotateKey(api.services, caller.orgId, COMMAND_LINE)
  const amendment = await amendChange(api.services, caller.orgId, record)
  const second = await ask(record.id)
  const { amendments, chain } = statementOf(second).predicate
  assert.deepEqual(statementOf(first).predicate.chain, chain)
  assert.equal(amendments.length, 1)
  const { chain: position, ...shown } = amendments[0]
  assert.deepEqual([shown, position.hash], [amendment, linkHash(position.previous_hash, amendment)])
  assert.deepEqual(second.body.data.envelope.signatures[0].keyid, keyid)
  const { sql } = api.services
  const stored = await sql`select 1 from statements where subject_id = ${record.id}`
  assert.equal(stored.length, 2)
})

test('the subject of a commit of a SHA-256 repository is its 64 digits under gitCommit', async () => {
  const merge = 'd'.repeat(64)
  const commits = { head: merge, base: null, merge, list: [], complete: true }
  const { id } = await recordChange(api.services, caller.orgId, { commits })
  assert.deepEqual(statementOf(await ask(id)).subject[0].digest, { gitCommit: merge })
})

test('simultaneous first requests to two servers return the same bytes', async () => {
  const other = await startTestApi({ beside: api })
  const { id } = await recordChange(api.services, caller.orgId)
  const path = `/v1/provenance/changes/${id}/statement`
  const requests = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? api : other).request('GET', path, caller))
  const answers = await Promise.all(requests)
  await other.close()
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('HEAD has the headers of GET and no body', async () => {
  const { id } = await recordChange(api.services, caller.orgId)
  const { headers } = await ask(id)
  const answer = await api.request('HEAD', `/v1/provenance/changes/${id}/statement`, { key: caller.key })
  assert.deepEqual([answer.status, answer.text], [200, ''])
  assert.equal(answer.headers.get('content-length'), headers.get('content-length'))
})

test("404 not_found without a reason for an unknown id and for another organization's change, on every plan", async () => {
  const stranger = await api.caller()
  const { id } = await recordChange(api.services, caller.orgId)
  assert.equal((await ask(id)).status, 200)
  for (const who of [stranger, await api.caller({ plan: 'team' })]) {
    for (const unknown of [id, 'chg_00000000000000000000000000', 'nonsense', 'pr_github_1001_999']) {
      assert.deepEqual(assertError(await ask(unknown, who), 404, 'not_found'), {}, unknown)
    }
  }
})

test('402 plan_required with the required plan enterprise on a smaller plan, before any reason', async () => {
  const business = await api.caller({ plan: 'business' })
  const { id } = await recordChange(api.services, business.orgId)
  assert.deepEqual(assertError(await ask(id, business), 402, 'plan_required'), { requiredPlan: 'enterprise' })
  const { id: expired } = await recordChange(api.services, business.orgId, { landed_at: daysAgo(400) })
  assert.deepEqual(assertError(await ask(expired, business), 402, 'plan_required'), { requiredPlan: 'enterprise' })
})

test('403 without the scope read:attestations', async () => {
  const { id } = await recordChange(api.services, caller.orgId)
  const { key } = await api.caller({ orgId: caller.orgId, scopes: ['read:pipelines'] })
  assert.equal((await ask(id, { ...caller, key })).text, '{"message":"Forbidden"}')
})

test('409 RECORD_EXPIRED once the change landed longer ago than the retention, also for an issued statement', async () => {
  const { id } = await recordChange(api.services, caller.orgId, { landed_at: daysAgo(1095) })
  assert.equal((await ask(id)).status, 200)
  api.clock.advance(1)
  assert.deepEqual(assertError(await ask(id), 409, 'statement_unavailable'), { reason: 'RECORD_EXPIRED' })
  const { id: old } = await recordChange(api.services, caller.orgId, { landed_at: daysAgo(1096) })
  assert.deepEqual(assertError(await ask(old), 409, 'statement_unavailable'), { reason: 'RECORD_EXPIRED' })
})

test('400 for an unknown query parameter, and for checkpoint_size without bundle=true', async () => {
  const { id } = await recordChange(api.services, caller.orgId)
  assertInvalid(await ask(id, caller, '?nonsense=1'), '/query/nonsense')
  assertInvalid(await ask(id, caller, '?bundle=perhaps'), '/query/bundle')
  assertInvalid(await ask(id, caller, '?checkpoint_size=3'), '/query/checkpoint_size')
  assertInvalid(await ask(id, caller, '?bundle=true&checkpoint_size=-1'), '/query/checkpoint_size')
})

test('400 for an id with characters that no id has', async () => {
  assertInvalid(await ask('a%20b'), '/path/id')
})

/** By the rule of provenance.md §1. */
function linkHash(previous: string | null, body: object): string {
  const before = Buffer.from(previous ?? '0'.repeat(64), 'hex')
  return createHash('sha256').update(before).update(toCanonicalJson(body)).digest('hex')
}

function daysAgo(days: number): string {
  return new Date(api.clock.now().getTime() - days * DAY_MS).toISOString()
}
