// No second chance: who may close findings.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { placedResult, sarif, sarifResult } from '../../../../support/sarif.ts'
import { startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001', gitRef: 'refs/heads/main' }

let api: TestApi
let caller: TokenCaller
let security: Person
let reports = 0

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await startTokenCaller(api)
  security = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'security', name: 'Kim' })
})
test.afterEach(() => caller.close())

async function report(sender: 'token' | 'key', rules: string[], options: Json = {}): Promise<Json> {
  api.clock.advance(1000)
  const marks = { automationDetails: { guid: `${++reports}` } }
  const file = sarif(
    rules.map((rule) => sarifResult(rule)),
    'Linter',
    marks,
  )
  const key = sender === 'token' ? await caller.sign() : caller.key
  return uploadReport(api, { ...caller, key }, file, { ...REPOSITORY, ...options })
}

async function listStreams(query = ''): Promise<Json[]> {
  const { status, body, text } = await api.request('GET', `/v1/security/streams${query}`, { key: caller.key })
  assert.equal(status, 200, text)
  return body.data
}
const streamOf = async (trust: string) =>
  (await listStreams()).find((stream) => stream.trust === trust) ?? assert.fail()
const byPerson = (person: Person, path: string, body: object): Promise<Answer> =>
  requestAs(api, person, 'POST', `/security/streams/${path}`, body)
const reasons = async () =>
  (await listFindings(api, caller))
    .map(({ rule_id, state, category_reason }) => `${rule_id} ${state} ${category_reason}`)
    .sort()
const states = async () => (await listFindings(api, caller)).map(({ rule_id, state }) => `${rule_id} ${state}`).sort()

test('streams are listed with who reports to them, what is open, and which others they can take over', async () => {
  await report('key', ['a', 'b'])
  await report('token', ['a'])
  const [verified, uploaded, ...others] = await listStreams()
  assert.deepEqual([verified.trust, verified.open, uploaded.trust, uploaded.open], ['verified', 1, 'uploaded', 2])
  assert.deepEqual(verified.can_take_over, [{ id: uploaded.id, trust: 'uploaded', open: 2 }])
  assert.deepEqual([uploaded.can_take_over, others], [[], []])
  assert.deepEqual([verified.status, verified.tool, verified.ended], ['active', 'Linter', null])
  const page = await api.request('GET', '/v1/security/streams?limit=1', { key: caller.key })
  const next = await api.request('GET', `/v1/security/streams?limit=1&cursor=${page.body.next_cursor}`, {
    key: caller.key,
  })
  assert.deepEqual([page.body.data[0].id, next.body.data[0]?.id], [verified.id, uploaded.id], next.text)
})

test('a stream to which nobody reports for 30 days is stale while its ref is scanned, and still counts', async () => {
  await report('key', ['a'])
  api.clock.advance(31 * 24 * 60 * 60 * 1000)
  assert.equal((await listStreams())[0].status, 'active')
  await report('token', [])
  assert.deepEqual(
    (await listStreams('?status=stale')).map(({ trust, open }) => [trust, open]),
    [['uploaded', 1]],
  )
})

test('a person with Triage ends a stream: its findings close, and its next report starts it again', async () => {
  await report('key', ['a', 'b'])
  await report('token', ['a'])
  const { id } = await streamOf('uploaded')
  const ended = await byPerson(security, `${id}/end`, { reason: 'We use tokens now.' })
  assert.deepEqual(
    [ended.status, ended.body.data?.status, ended.body.data?.open, ended.body.data?.ended?.by_name],
    [200, 'ended', 0, 'Kim'],
    ended.text,
  )
  assert.deepEqual(await states(), ['a fixed', 'a open', 'b fixed'])
  assert.deepEqual(await reasons(), ['a fixed stream_ended', 'a open null', 'b fixed stream_ended'])
  assertError(await byPerson(security, `${id}/end`, { reason: 'Again.' }), 409, 'stream_ended')
  const [entry] = await api.services.sql<{ principal_name: string; reason: string }[]>`
    select principal_name, reason from audit_entries where action = 'finding_stream.end' and object_id = ${id}`
  assert.deepEqual({ ...entry }, { principal_name: 'Kim', reason: 'We use tokens now.' })
  await report('key', ['b'])
  const again = await streamOf('uploaded')
  assert.deepEqual([again.id, again.status, again.ended], [id, 'active', null])
  assert.deepEqual(await reasons(), ['a fixed null', 'a open null', 'b open null'])
  assert.deepEqual(await states(), ['a fixed', 'a open', 'b open'])
})

test('what a report had closed before its stream was ended is fixed without another reason', async () => {
  await report('key', ['a', 'b'])
  await report('key', ['b'])
  api.clock.advance(1000)
  const { id } = await streamOf('uploaded')
  assert.equal((await byPerson(security, `${id}/end`, { reason: 'We use tokens now.' })).status, 200)
  assert.deepEqual(await reasons(), ['a fixed null', 'b fixed stream_ended'])
})

test('the identical file starts an ended stream again, and its findings are open', async () => {
  const file = sarif([sarifResult('a')], 'Linter', { automationDetails: { guid: `${++reports}` } })
  const fields = { ...REPOSITORY, commitSha: '1111111' }
  const { id: upload_id } = await uploadReport(api, caller, file, fields)
  const { id } = await streamOf('uploaded')
  assert.equal((await byPerson(security, `${id}/end`, { reason: 'We use tokens now.' })).status, 200)
  for (const commitSha of ['2222222', '2222222']) {
    api.clock.advance(1000)
    await uploadReport(api, caller, file, { ...fields, commitSha })
    await readReportFile(api.services, { org_id: caller.orgId, upload_id })
    const { status, commit_sha } = await streamOf('uploaded')
    assert.deepEqual([status, commit_sha, await states()], ['active', '2222222', ['a open']])
  }
})

test('who may not triage ends nothing', async () => {
  await report('token', ['a'])
  const { id } = await streamOf('verified')
  const developer = await createPerson(api, { orgId: caller.orgId, slug: caller.slug, role: 'developer' })
  assertError(await byPerson(developer, `${id}/end`, { reason: 'x' }), 403, 'insufficient_permission')
  assertError(await byPerson(developer, `${id}/take-over`, { from: id }), 403, 'insufficient_permission')
  const { key } = await api.caller({ orgId: caller.orgId, scopes: ['write:security-findings', 'write:ci'] })
  const path = `/v1/security/streams/${id}`
  assert.equal((await api.request('POST', `${path}/end`, { key, body: { reason: 'x' } })).status, 403)
  assert.equal((await caller.send('POST', `${path}/end`, { reason: 'x' })).status, 403)
  const other = await api.caller()
  assertError(await api.request('POST', `${path}/end`, { key: other.key, body: { reason: 'x' } }), 404, 'not_found')
  assert.deepEqual(await states(), ['a open'])
  const byKey = await api.request('POST', `${path}/end`, { key: caller.key, body: { reason: 'x' } })
  assert.deepEqual([byKey.status, await states()], [200, ['a fixed']])
})

test('a stronger stream takes over no decision about what it shows differently', async () => {
  const send = async (text: string, key: string) => {
    api.clock.advance(1000)
    const file = sarif([placedResult({ snippet: text })], 'Linter', { automationDetails: { guid: `${++reports}` } })
    await uploadReport(api, { ...caller, key }, file, REPOSITORY)
  }
  await send('eval(constant)', caller.key)
  const [looked] = await listFindings(api, caller)
  const body = { action: 'dismiss', reason: 'false_positive', finding_ids: [looked.id] }
  assert.equal((await requestAs(api, security, 'POST', '/security/triage', body)).status, 201)
  await send('eval(constant + req.query)', await caller.sign())
  const [into, from] = [await streamOf('verified'), await streamOf('uploaded')]
  const taken = await byPerson(security, `${into.id}/take-over`, { from: from.id })
  assert.equal(taken.status, 200, taken.text)
  const [stronger] = (await listFindings(api, caller)).filter(({ id }) => id !== looked.id)
  assert.deepEqual([stronger.state, stronger.first_seen_at], ['open', looked.first_seen_at])
})

test('a stronger stream takes over the decisions and dates of a weaker one, which ends', async () => {
  await report('key', ['a', 'b', 'c'])
  const [{ first_seen_at: since }] = await listFindings(api, caller)
  const found = await listFindings(api, caller)
  const a = found.find(({ rule_id }) => rule_id === 'a')
  const body = { action: 'dismiss', finding_ids: [a.id], reason: 'wont_fix' }
  assert.equal((await requestAs(api, security, 'POST', '/security/triage', body)).status, 201)
  await report('token', ['a', 'b'])
  assert.deepEqual(await states(), ['a dismissed', 'a open', 'b open', 'b open', 'c open'])
  const [from, into] = [await streamOf('uploaded'), await streamOf('verified')]
  assertError(await byPerson(security, `${from.id}/take-over`, { from: into.id }), 409, 'weaker_stream')
  assertError(await byPerson(security, `${into.id}/take-over`, { from: into.id }), 409, 'other_stream')
  const taken = await byPerson(security, `${into.id}/take-over`, { from: from.id })
  assert.deepEqual([taken.status, taken.body.data?.id, taken.body.data?.open], [200, into.id, 1], taken.text)
  assert.deepEqual(await states(), ['a dismissed', 'a dismissed', 'b fixed', 'b open', 'c fixed'])
  const open = (await listFindings(api, caller, { state: 'open' })).map(({ first_seen_at }) => first_seen_at)
  assert.deepEqual(open, [since])
  assert.deepEqual((await streamOf('uploaded')).status, 'ended')
  assertError(await byPerson(security, `${into.id}/take-over`, { from: from.id }), 409, 'stream_ended')
})

for (const [last, expected] of [
  ['dismiss', ['dismissed', 'false_positive']],
  ['reopen', ['open', null]],
  ['undo', ['open', null]],
] as const)
  test(`what a person decided about the stronger finding itself stays: ${last}`, async () => {
    const triage = async (body: object) => {
      api.clock.advance(1000)
      const decided = await requestAs(api, security, 'POST', '/security/triage', body)
      assert.equal(decided.status, 201, decided.text)
      return decided.body.data.id
    }
    await report('key', ['a'])
    await report('token', ['a'])
    const [from, into] = [await streamOf('uploaded'), await streamOf('verified')]
    const [stronger, weaker] = await listFindings(api, caller)
    await triage({ action: 'dismiss', finding_ids: [weaker.id], reason: 'wont_fix' })
    const own = await triage({ action: 'dismiss', finding_ids: [stronger.id], reason: 'false_positive' })
    if (last === 'reopen') await triage({ action: 'reopen', finding_ids: [stronger.id] })
    if (last === 'undo')
      assert.equal((await requestAs(api, security, 'POST', `/security/triage/${own}/undo`)).status, 200)
    const taken = await byPerson(security, `${into.id}/take-over`, { from: from.id })
    assert.equal(taken.status, 200, taken.text)
    const { state, dismiss_reason } = (await listFindings(api, caller)).find(({ id }) => id === stronger.id) as Json
    assert.deepEqual([state, dismiss_reason], expected)
  })

test('409 other_stream for a stream of another category', async () => {
  await report('key', ['a'], { category: 'nightly' })
  await report('token', ['a'])
  const [from, into] = [await streamOf('uploaded'), await streamOf('verified')]
  assertError(await byPerson(security, `${into.id}/take-over`, { from: from.id }), 409, 'other_stream')
  assertError(await byPerson(security, `${into.id}/take-over`, { from: '999999999' }), 404, 'not_found')
  assert.deepEqual(await states(), ['a open', 'a open'])
})
