import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { insertAuditEntry } from '../../../../src/audit/audit.store.ts'
import { DAY_MS } from '../../../../src/platform/clock.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { configureGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, pageHeaders, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let auditor: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  auditor = await createPerson(api, { ...caller, permissions: ['read_audit_log'] })
})

const list = (query = '', who = auditor) => requestAs(api, who, 'GET', `/audit-log${query}`)

/** The file as it is sent. */
async function download(query = '', who = auditor) {
  const response = await fetch(`${api.url}${who.org}/audit-log/export${query}`, {
    headers: pageHeaders(api, who.cookie),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

type Recorded = { type?: 'user' | 'system'; by?: string; action?: string; object?: string; reason?: string }

async function record(entries: Recorded[], orgId = caller.orgId): Promise<void> {
  for (const { type = 'user', by = 'ada', action = 'gate.create', object = '1', reason } of entries) {
    api.clock.advance(1)
    const principal = { type, id: by, name: by } as const
    const of = { type: action.split('.')[0] as string, id: object }
    const entry = { principal, action, object: of, reason: reason ?? null, details: { note: 'n' } }
    await api.services.sql.begin((tx) => insertAuditEntry(tx, orgId, entry, api.clock.now()))
  }
}

test('200 with the entries, newest first, each with who, what, when and why', async () => {
  await record([{ object: '1' }, { object: '2', reason: 'A new region' }])
  const { body } = await list()
  assert.deepEqual(
    body.data.map(({ object }: Json) => object.id),
    ['2', '1'],
  )
  const { id, ...entry } = body.data[0]
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.deepEqual(entry, {
    at: api.clock.now().toISOString(),
    principal: { type: 'user', id: 'ada', name: 'ada' },
    action: 'gate.create',
    object: { type: 'gate', id: '2' },
    reason: 'A new region',
    details: { note: 'n' },
  })
})

test('each filter selects its entries, and filters combine', async () => {
  await record([{}, { type: 'system' }, { by: 'grace' }, { action: 'policy.apply' }, { object: '9' }])
  const count = async (query: string) => (await list(query)).body.data.length
  assert.equal(await count('?principal_type=system'), 1)
  assert.equal(await count('?principal_id=grace'), 1)
  assert.equal(await count('?action=policy.apply'), 1)
  assert.equal(await count('?object_type=gate'), 4)
  assert.equal(await count('?object_id=9'), 1)
  assert.equal(await count('?object_type=gate&principal_id=ada&principal_type=user'), 2)
  const until = new Date(api.clock.now().getTime() - 2).toISOString()
  assert.equal(await count(`?until=${until}`), 3)
  assertInvalid(await list('?principal_type=robot'), '/query/principal_type')
})

test('pages follow each other without gaps or repetitions, although entries are added in between', async () => {
  await record(Array.from({ length: 7 }, (_, at) => ({ object: `${at}` })))
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { body } = await list(`?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`)
    seen.push(...body.data.map(({ object }: Json) => object.id))
    cursor = body.next_cursor
    await record([{ object: 'later' }])
  } while (cursor !== null)
  assert.deepEqual(seen, ['6', '5', '4', '3', '2', '1', '0'])
})

test('the entries of another organization are not shown, and its cursor is 400', async () => {
  await record([{}, {}])
  const stranger = await createPerson(api, await api.caller())
  assert.deepEqual((await list('', stranger)).body.data, [])
  const { next_cursor } = (await list('?limit=1')).body
  assertError(await list(`?limit=1&cursor=${next_cursor}`, stranger), 400, 'invalid_cursor')
})

test('403 without the permission read_audit_log, for the list and the export', async () => {
  const developer = await createPerson(api, { ...caller, role: 'developer' })
  assertError(await list('', developer), 403, 'insufficient_permission')
  assert.equal((await download('', developer)).status, 403)
  assert.deepEqual((await list()).body.data, [])
})

test('the NDJSON export contains the entries of the list as a file, and is recorded itself', async () => {
  await configureGate(api, caller)
  await record([{ reason: '=1' }])
  const listed = (await list()).body.data
  api.clock.advance(1)
  const { status, headers, text } = await download()
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  assert.equal(
    headers.get('content-disposition'),
    `attachment; filename="audit-log-${caller.slug}-${api.clock.now().toISOString().slice(0, 10)}.ndjson"`,
  )
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(lines.slice(1), listed)
  const [{ principal, action, details }] = (await list('?limit=1')).body.data
  assert.deepEqual([principal.id, action, details.format], [auditor.userId, 'audit_log.export', 'ndjson'])
  assert.equal(lines[0].action, 'audit_log.export')
})

test('the CSV export has a header, and text that is a formula is neutralized', async () => {
  await record([{ reason: '=HYPERLINK("https://evil.example")' }])
  const { headers, text } = await download('?format=csv&action=gate.create')
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  const [header, line, end, ...rest] = text.split('\r\n')
  assert.match(header as string, /^"id","at","principal_type"/)
  assert.ok(line?.includes(`,"'=HYPERLINK(""https://evil.example"")",`), line)
  assert.deepEqual([end, rest], ['', []])
})

test('an export of more entries than one query reads contains each of them once', async () => {
  const { sql } = api.services
  await sql`
    insert into audit_entries (org_id, id, at, principal_type, principal_name, action, object_type, object_id)
    select ${caller.orgId}, gen_random_uuid(), ${api.clock.now()}::timestamptz - number / 10 * interval '1 ms', 'system',
      'Shiplock', 'gate.create', 'gate', number::text
    from generate_series(1, 3500) number`
  const { text } = await download('?action=gate.create')
  const ids = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).object.id)
  assert.deepEqual([ids.length, new Set(ids).size], [3500, 3500])
})

test('a window before the data retention of the plan is moved forward', async () => {
  const team = await api.caller({ plan: 'team' })
  const admin = await createPerson(api, team)
  await record([{}], team.orgId)
  api.clock.advance(91 * DAY_MS)
  const person = { ...admin, cookie: (await createPerson(api, team)).cookie }
  const { body } = await list(`?since=${new Date(api.clock.now().getTime() - 300 * DAY_MS).toISOString()}`, person)
  assert.deepEqual([body.data, body.meta.retention_clamped], [[], true])
})
