import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { encodePreAuth } from '../../src/platform/crypto/signed-bytes.ts'
import { issueStatement } from '../../src/provenance/statements/issue-statement.ts'
import { loadCurrentSigner, rotateKey } from '../../src/provenance/statements/rotate-key.ts'
import type { StatementName } from '../../src/provenance/statements/statement.store.ts'
import type { StatementContent } from '../../src/provenance/statements/statement-content.ts'
import { startTestApi, type TestApi } from '../support/api.ts'

let api: TestApi
let other: TestApi

before(async () => {
  api = await startTestApi()
  other = await startTestApi({ beside: api })
})
after(async () => {
  await other?.close()
  await api?.close()
})

async function newName(kind: StatementName['kind'] = 'change'): Promise<StatementName> {
  return { org_id: (await api.caller()).orgId, kind, subject_id: 'chg_1' }
}

function content(predicate: object): StatementContent {
  const subject = [{ name: 'git+https://github.com/acme/api', digest: { gitCommit: 'a'.repeat(40) } }]
  return { subject, predicateType: 'https://shiplock.dev/change-record/v1', predicate }
}

/** The statement names its subject, so that no two subjects have equal statements. */
const issue = (name: StatementName, facts: object, from = api) =>
  issueStatement(from.services, name, facts, (issuedAt) =>
    content({ ...facts, ...name, issuedAt: issuedAt.toISOString() }),
  )

test('a statement is a DSSE envelope with an in-toto statement, signed with the key of its organization', async () => {
  const name = await newName()
  const statement = await issue(name, { record: 'one' })
  const { payloadType, payload, signatures } = JSON.parse(statement.envelope)
  const bytes = Buffer.from(payload, 'base64')
  assert.deepEqual(JSON.parse(bytes.toString()), {
    _type: 'https://in-toto.io/Statement/v1',
    ...content({ record: 'one', ...name, issuedAt: api.clock.now().toISOString() }),
  })
  assert.equal(payloadType, 'application/vnd.in-toto+json')
  assert.equal(statement.statement_digest, `sha256:${createHash('sha256').update(bytes).digest('hex')}`)
  assert.deepEqual(
    signatures.map(({ keyid }: { keyid: string }) => keyid),
    [statement.keyid],
  )
  const publicKey = createPublicKey(await pemOf(statement.keyid))
  const signed = encodePreAuth(payloadType, bytes)
  assert.ok(verify('sha256', signed, publicKey, Buffer.from(signatures[0].sig, 'base64')))
})

test('equal facts return the stored bytes, in any order of their members, at any time', async () => {
  const name = await newName()
  const first = await issue(name, { record: 'one', amendments: [] })
  api.clock.advance(60_000)
  assert.deepEqual(await issue(name, { amendments: [], record: 'one' }), first)
})

test('changed facts return a new statement, and facts that return to an earlier value the earlier statement', async () => {
  const name = await newName()
  const first = await issue(name, { record: 'one' })
  const second = await issue(name, { record: 'two' })
  assert.notEqual(first.statement_digest, second.statement_digest)
  assert.deepEqual(await issue(name, { record: 'one' }), first)
})

test('kinds, subjects and organizations do not share statements', async () => {
  const name = await newName()
  const names = [name, { ...name, kind: 'lineage' as const }, { ...name, subject_id: 'chg_2' }, await newName()]
  const statements = []
  for (const each of names) statements.push(await issue(each, { record: 'one' }))
  assert.equal(new Set(statements.map(({ statement_digest }) => statement_digest)).size, names.length)
})

test('after a rotation, issued statements keep their bytes, and new facts are signed with the new key', async () => {
  const name = await newName()
  const before = await issue(name, { record: 'one' })
  const { keyid } = await rotateKey(api.services, name.org_id, COMMAND_LINE)
  assert.deepEqual(await issue(name, { record: 'one' }), before)
  assert.notEqual(before.keyid, keyid)
  assert.equal((await issue(name, { record: 'two' })).keyid, keyid)
})

test('simultaneous first requests to two servers return one statement and add one entry to the log', async () => {
  const name = await newName()
  await loadCurrentSigner(api.services, name.org_id)
  const all = Array.from({ length: 20 }, (_, at) => issue(name, { record: 'one' }, at % 2 === 0 ? api : other))
  const [first, ...rest] = await Promise.all(all)
  for (const each of rest) assert.deepEqual(each, first)
  assert.equal((await entriesOf(first?.statement_digest ?? '')).length, 1)
})

test('a statement that cannot be added to the log is not stored', async () => {
  const name = await newName()
  await api.services.sql`alter table log_entries add constraint refused check (kind <> 'statement') not valid`
  await assert.rejects(issue(name, { record: 'one' }))
  await api.services.sql`alter table log_entries drop constraint refused`
  const rows = await api.services.sql`select 1 from statements where org_id = ${name.org_id}`
  assert.equal(rows.length, 0)
})

function entriesOf(digest: string) {
  const sha256 = Buffer.from(digest.replace('sha256:', ''), 'hex')
  return api.services.sql`select 1 from log_entries where kind = 'statement' and sha256 = ${sha256}`
}

async function pemOf(keyid: string): Promise<string> {
  const [row] = await api.services.sql<[{ pem: string }]>`select pem from signing_keys where keyid = ${keyid}`
  return row.pem
}
