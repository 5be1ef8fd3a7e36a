import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { scheduledJobs } from '../../src/jobs.ts'
import { encodePreAuth } from '../../src/platform/crypto/signed-bytes.ts'
import type { Tx } from '../../src/platform/db/sql.ts'
import {
  listCheckpoints,
  listEntries,
  listPendingEntries,
  updateCheckpointMac,
  updateEntryMacs,
} from '../../src/provenance/log/log.store.ts'
import { openLogKey } from '../../src/provenance/log/log-key.ts'
import { computeCheckpointMac, computeEntryMac } from '../../src/provenance/log/log-mac.ts'
import { appendPendingEntries } from '../../src/provenance/log/sequence-log.ts'
import { verifyLog } from '../../src/provenance/log/verify-log.ts'
import { settleRow } from '../../src/provenance/statements/acknowledge-row.ts'
import { authenticateRows } from '../../src/provenance/statements/authenticate-rows.ts'
import { loadCurrentSigner, rotateKey } from '../../src/provenance/statements/rotate-key.ts'
import { encodePublicKey } from '../../src/provenance/statements/signing-key.ts'
import { encodeStatement, IN_TOTO, toEnvelope } from '../../src/provenance/statements/statement-content.ts'
import { verifyRows, verifyRowsDaily } from '../../src/provenance/statements/verify-rows.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import type { Json } from '../support/json.ts'
import { findMacsPosition, removeMacs } from '../support/log-entries.ts'
import { logLines } from '../support/log-lines.ts'
import { recordChange } from '../support/recorded-changes.ts'

let api: TestApi
let caller: Caller
let path: string
let id: string

before(async () => {
  api = await startTestApi()
  await openLogKey(api.services)
})
after(() => api?.close())
afterEach(async () => {
  await sql()`delete from statements`
  await sql()`delete from signing_keys`
  await sql()`delete from log_entries where leaf_index is null and kind = 'statement'`
})
beforeEach(async () => {
  caller = await api.caller()
  id = (await recordChange(api.services, caller.orgId, { deviations: ['direct_push'] })).id
  path = `/v1/provenance/changes/${id}/statement`
})

const sql = () => api.services.sql
const read = (query = '') => api.request('GET', path + query, caller)
const breaksOf = async () => (await verifyRows(api.services, { orgId: caller.orgId })).breaks

/** Gives entries and checkpoints their macs again. */
async function restoreLog() {
  const { integrityKey } = api.services
  const entries = [...(await listEntries(sql(), 0, 10_000)), ...(await listPendingEntries(sql(), 10_000))]
  await updateEntryMacs(
    sql() as unknown as Tx,
    entries.map((entry) => ({ ...entry, mac: computeEntryMac(integrityKey, entry) })),
  )
  for (const checkpoint of await listCheckpoints(sql(), -1, 10_000))
    await updateCheckpointMac(sql() as unknown as Tx, {
      size: checkpoint.size,
      mac: computeCheckpointMac(integrityKey, checkpoint),
    })
}

async function readIssued(): Promise<Json> {
  const { status, body, text } = await read()
  assert.equal(status, 200, text)
  return body.data
}

/** What somebody with write access to the database, but without the secret key, can sign. */
function forge(payload: Json, publicKey: KeyObject, privateKey: KeyObject) {
  const { keyid, pem } = encodePublicKey(publicKey)
  const bytes = encodeStatement(payload)
  const envelope = JSON.stringify(toEnvelope(bytes, keyid, sign('sha256', encodePreAuth(IN_TOTO, bytes), privateKey)))
  const sha256 = createHash('sha256').update(bytes).digest()
  return { keyid, pem, envelope, sha256, statement_digest: `sha256:${sha256.toString('hex')}` }
}

/** The three statements of SQL that made a direct push a signed change without deviations. */
async function forgeStatement() {
  const { envelope } = await readIssued()
  const payload = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  assert.deepEqual(payload.predicate.record.deviations, ['direct_push'])
  payload.predicate.record.deviations = []
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const forged = forge(payload, publicKey, privateKey)
  await sql()`
    insert into signing_keys (org_id, keyid, pem, sealed_private_key, created_at, retired_at)
    select org_id, ${forged.keyid}, ${forged.pem}, sealed_private_key, created_at, created_at
    from signing_keys
    where org_id = ${caller.orgId}`
  await sql()`
    update statements
    set keyid = ${forged.keyid}, statement_digest = ${forged.statement_digest}, envelope = ${forged.envelope}
    where org_id = ${caller.orgId}`
  await sql()`insert into log_entries (kind, sha256) values ('statement', ${forged.sha256})`
  return forged
}

for (const macs of ['kept', 'removed', 'removed, also of the log'] as const) {
  test(`a statement and a key that were written to the database are never served as ours (macs ${macs})`, async () => {
    const forged = await forgeStatement()
    if (macs !== 'kept') {
      await sql()`update statements set mac = null where org_id = ${caller.orgId}`
      await sql()`update signing_keys set mac = null where org_id = ${caller.orgId}`
    }
    if (macs === 'removed, also of the log') {
      await sql()`update log_entries set mac = null`
      await sql()`update log_checkpoints set mac = null`
    }
    const refused = await read()
    assertError(refused, 503, 'unavailable')
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assertError(await read('?bundle=true'), 503, 'unavailable')
    const keys = await api.request('GET', '/v1/provenance/keys', caller)
    assertError(keys, 503, 'unavailable')
    assert.ok(!keys.text.includes(forged.pem))
    const found = await breaksOf()
    assert.ok(found.some(({ part, resource }) => part === 'key' && resource === forged.keyid))
    assert.ok(found.some(({ part, resource }) => part === 'statement' && resource.startsWith(`change/${id}/`)))
    const inLog = `statement/${forged.sha256.toString('hex')}`
    assert.ok((await verifyLog(api.services)).some(({ resource }) => resource === inLog))
    await authenticateRows(api.services)
    assertError(await read(), 503, 'unavailable')
    assert.ok((await verifyLog(api.services)).some(({ resource }) => resource === inLog))
    await sql()`delete from log_entries where sha256 = ${forged.sha256}`
    await restoreLog()
  })
}

const CHANGED = `\\x${'ab'.repeat(32)}`
const COLUMNS: [table: string, set: string][] = [
  ['statements', `facts = '${CHANGED}'`],
  ['statements', "subject_id = 'chg_other'"],
  ['statements', "kind = 'lineage'"],
  ['statements', `statement_digest = 'sha256:${'0'.repeat(64)}'`],
  ['statements', 'envelope = replace(envelope, \'"sig":"M\', \'"sig":"N\')'],
  ['statements', "envelope = 'null'"],
  ['statements', "issued_at = issued_at - interval '1 day'"],
  ['statements', `mac = '${CHANGED}'`],
  ['statements', 'mac = null'],
  ['signing_keys', "pem = pem || ' '"],
  ['signing_keys', "sealed_private_key = sealed_private_key || 'A'"],
  ['signing_keys', "sealed_private_key = null, kms_key = 'alias/other'"],
  ['signing_keys', "created_at = created_at - interval '1 day'"],
  ['signing_keys', 'retired_at = created_at'],
  ['signing_keys', `mac = '${CHANGED}'`],
  ['signing_keys', 'mac = null'],
]
for (const [table, set] of COLUMNS) {
  test(`a change of ${table} is found, and neither listed nor served: ${set}`, async () => {
    await readIssued()
    assert.deepEqual(await breaksOf(), [])
    await sql().unsafe(`update ${table} set ${set} where org_id = '${caller.orgId}'`)
    const [found, ...others] = await breaksOf()
    assert.equal(found?.part, table === 'statements' ? 'statement' : 'key')
    // Without the key that has signed them, statements are none of ours.
    assert.deepEqual(
      others.map(({ part }) => part),
      /^(pem|sealed_private_key = sealed)/.test(set) ? ['statement'] : [],
    )
    const isFound = !/^(facts|subject_id|kind)/.test(set)
    if (isFound) assertError(await read(), 503, 'unavailable')
    if (table === 'signing_keys')
      assertError(await api.request('GET', '/v1/provenance/keys', caller), 503, 'unavailable')
  })
}

test('a genuine statement in the place of another is not served', async () => {
  await readIssued()
  const other = await recordChange(api.services, caller.orgId)
  await api.request('GET', `/v1/provenance/changes/${other.id}/statement`, caller)
  await sql()`
    update statements
    set (keyid, statement_digest, envelope, issued_at, mac) = (
      select keyid, statement_digest, envelope, issued_at, mac from statements where subject_id = ${other.id}
    )
    where subject_id = ${id}`
  assertError(await read(), 503, 'unavailable')
})

test('an entry that only the database knows is not numbered, and is named', async () => {
  await readIssued()
  const sha256 = createHash('sha256').update('forged').digest()
  await sql()`insert into log_entries (kind, sha256, mac) values ('statement', ${sha256}, ${sha256})`
  assertError(await read('?bundle=true'), 503, 'unavailable')
  const resource = `statement/${sha256.toString('hex')}`
  assert.ok((await verifyLog(api.services)).some((one) => one.resource === resource))
  await sql()`delete from log_entries where sha256 = ${sha256}`
  assert.equal((await read('?bundle=true')).status, 200)
})

test('a changed entry or checkpoint is served in no proof, and is named', async () => {
  const { statement_digest } = (await read('?bundle=true')).body.data
  const digest = Buffer.from(statement_digest.slice(7), 'hex')
  const changes = [
    [`log_entries set mac = '${CHANGED}' where sha256 = '\\x${digest.toString('hex')}'`, /^statement\//],
    ["log_checkpoints set published_at = published_at - interval '1 day'", /^checkpoint$/],
  ] as const
  for (const [change, resource] of changes) {
    await sql()`create table kept_entries as table log_entries`
    await sql()`create table kept_checkpoints as table log_checkpoints`
    await sql().unsafe(`update ${change}`)
    assertError(await read('?bundle=true'), 503, 'unavailable')
    if (change.startsWith('log_checkpoints'))
      assertError(await api.request('GET', '/log/checkpoint'), 503, 'unavailable')
    assert.ok((await verifyLog(api.services)).some((one) => resource.test(one.resource)))
    await sql()`update log_entries set mac = kept.mac from kept_entries kept where kept.id = log_entries.id`
    await sql()`
      update log_checkpoints
      set published_at = kept.published_at
      from kept_checkpoints kept
      where kept.size = log_checkpoints.size`
    await sql()`drop table kept_entries, kept_checkpoints`
  }
  assert.equal((await read('?bundle=true')).status, 200)
})

test('what an earlier version has stored is served, keeps its bytes, and is authenticated by the daily job', async () => {
  const issued = (await read('?bundle=true')).body.data
  await rotateKey(api.services, caller.orgId, COMMAND_LINE)
  await removeMacs(api.services)
  assert.deepEqual(await readIssued(), { envelope: issued.envelope, statement_digest: issued.statement_digest })
  const { log, lines } = logLines()
  assert.ok(scheduledJobs.includes(verifyRowsDaily))
  await verifyRowsDaily.run({ ...api.services, log }, {})
  assert.deepEqual(
    lines.filter(({ level }) => level > 30),
    [],
  )
  for (const table of ['signing_keys', 'statements', 'log_entries', 'log_checkpoints']) {
    const rows = await sql()`select from ${sql()(table)} where mac is null`
    assert.equal(rows.length, 0, table)
  }
  assert.deepEqual((await read('?bundle=true')).body.data.envelope, issued.envelope)
  assert.deepEqual([await breaksOf(), await verifyLog(api.services)], [[], []])
  await sql()`update signing_keys set mac = null, retired_at = created_at where org_id = ${caller.orgId}`
  assertError(await read(), 503, 'unavailable')
})

test('nobody who writes to the database can repeat the upgrade', async () => {
  const position = await findMacsPosition(api.services)
  assert.ok(position !== null)
  await readIssued()
  const late = createHash('sha256').update('without a mac').digest()
  for (const table of ['signing_keys', 'statements', 'log_entries', 'log_checkpoints'])
    await sql()`update ${sql()(table)} set mac = null`
  await sql()`insert into log_entries (kind, sha256) values ('statement', ${late})`
  assertError(await read(), 503, 'unavailable')
  await assert.rejects(appendPendingEntries(api.services), { status: 503 })
  await authenticateRows(api.services)
  assert.equal((await sql()`select from statements where mac is not null`).length, 0)
  await sql()`delete from log_entries where sha256 = ${late}`
  // The owner of the database can delete the entry, but not so that the log still verifies.
  await sql()`delete from log_entries where leaf_index = ${position}`
  const { log, lines } = logLines()
  await authenticateRows({ ...api.services, log })
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['The rows of the provenance are not authenticated, because the transparency log contradicts itself'],
  )
  assert.equal((await sql()`select from statements where mac is not null`).length, 0)
  assert.equal((await sql()`select from signing_keys where mac is not null`).length, 0)
  await sql()`truncate log_entries, log_tiles, log_checkpoints, log_key restart identity`
  await sql()`delete from statements`
  await sql()`delete from signing_keys`
  await openLogKey(api.services)
})

test('an administrator ends a break: a statement is issued again, and a foreign key is never accepted', async () => {
  const settle = (part: 'key' | 'statement', resource: string) =>
    settleRow(api.services, caller.orgId, { part, resource }, { principal: COMMAND_LINE, note: 'Known' })
  await readIssued()
  await sql()`update statements set envelope = envelope || ' ' where org_id = ${caller.orgId}`
  const [found] = await breaksOf()
  await settle('statement', found?.resource ?? '')
  await readIssued()
  await assert.rejects(settle('statement', found?.resource ?? ''), { code: 'row_authentic' })
  const { keyid } = await loadCurrentSigner(api.services, caller.orgId)
  await sql()`update signing_keys set created_at = created_at - interval '1 day' where org_id = ${caller.orgId}`
  assertError(await read(), 503, 'unavailable')
  api.clock.advance(1000)
  await settle('key', keyid)
  await readIssued()
  const forged = await forgeStatement()
  await assert.rejects(settle('key', forged.keyid), { code: 'foreign_row' })
  const audited = await sql()`
    select action, object_type, object_id, reason
    from audit_entries
    where org_id = ${caller.orgId}
      and action = 'provenance.acknowledge'
    order by at, id`
  assert.deepEqual(
    audited.map(({ object_type, reason }) => [object_type, reason]),
    [
      ['statement', 'Known'],
      ['key', 'Known'],
    ],
  )
})
