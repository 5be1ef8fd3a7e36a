import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { openLogKey } from '../../src/provenance/log/log-key.ts'
import { hasMacs } from '../../src/provenance/log/log-mac.ts'
import { isOwnKey } from '../../src/provenance/statements/authentic-key.ts'
import { authenticateRows } from '../../src/provenance/statements/authenticate-rows.ts'
import { listPublicKeys, loadCurrentSigner, rotateKey } from '../../src/provenance/statements/rotate-key.ts'
import { findCurrentKey } from '../../src/provenance/statements/signing-key.store.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { startFakeKms } from '../support/fake-kms.ts'
import { removeMacs } from '../support/log-entries.ts'

let api: TestApi
let kms: Awaited<ReturnType<typeof startFakeKms>>

before(async () => {
  kms = await startFakeKms()
  Object.assign(process.env, kms.environment)
  api = await startTestApi()
})
after(async () => {
  await api?.close()
  await kms?.close()
})

/** The same services with another setting. */
const withKms = (signingKmsKey: string | null) => ({
  ...api.services,
  config: { ...api.services.config, signingKmsKey },
})
const keysOf = async (key: string) => (await api.request('GET', '/v1/provenance/keys', { key })).body.data.keys
const BYTES = Buffer.from('what is signed')

async function assertSigns(
  services: TestApi['services'],
  orgId: string,
  { keyid, pem }: { keyid: string; pem: string },
) {
  const signer = await loadCurrentSigner(services, orgId)
  assert.equal(signer.keyid, keyid)
  assert.ok(verify('sha256', BYTES, createPublicKey(pem), await signer.sign(BYTES)))
}

test('the first key is made when it is needed: P-256, with the SHA-256 of its DER form as id', async () => {
  const { key, orgId } = await api.caller()
  const { status, body } = await api.request('GET', '/v1/provenance/keys', { key })
  assert.equal(status, 200)
  const [only, ...others] = body.data.keys
  assert.deepEqual(others, [])
  assert.deepEqual(Object.keys(only).sort(), ['alg', 'created_at', 'keyid', 'pem', 'retired_at'])
  assert.deepEqual([only.created_at, only.retired_at], [api.clock.now().toISOString(), null])
  assert.equal(only.alg, 'ecdsa-p256-sha256')
  const publicKey = createPublicKey(only.pem)
  assert.equal(publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  const der = publicKey.export({ type: 'spki', format: 'der' })
  assert.equal(only.keyid, createHash('sha256').update(der).digest('hex'))
  await assertSigns(api.services, orgId, only)
  assert.deepEqual(await keysOf(key), [only])
})

test('first uses at the same instant, in two processes, make one key', async () => {
  const { key, orgId } = await api.caller()
  const beside = await startTestApi({ beside: api })
  try {
    const uses = Array.from({ length: 16 }, (_, index) => loadCurrentSigner((index % 2 ? api : beside).services, orgId))
    const keyids = new Set((await Promise.all(uses)).map(({ keyid }) => keyid))
    assert.equal(keyids.size, 1)
    assert.equal((await keysOf(key)).length, 1)
  } finally {
    await beside.close()
  }
})

test('rotation retires the current key: the new one is first, then the retired ones, newest first', async () => {
  const { key, orgId } = await api.caller()
  const made = [(await keysOf(key))[0].keyid]
  for (let count = 0; count < 3; count += 1) {
    api.clock.advance(1000)
    made.unshift((await rotateKey(api.services, orgId, COMMAND_LINE)).keyid)
  }
  const keys = await keysOf(key)
  assert.deepEqual(
    keys.map(({ keyid }: { keyid: string }) => keyid),
    made,
  )
  await assertSigns(api.services, orgId, keys[0])
  const audited = await api.services.sql`
    select action, object_id from audit_entries where org_id = ${orgId} order by id`
  assert.deepEqual(
    audited.map(({ action, object_id }) => [action, object_id]),
    made.toReversed().map((keyid, index) => [index === 0 ? 'signing_key.create' : 'signing_key.rotate', keyid]),
  )
})

test('the same rotation asked for at the same instant, in two processes, makes one new key', async () => {
  const { key, orgId } = await api.caller()
  await keysOf(key)
  const beside = await startTestApi({ beside: api })
  try {
    const rotations = [api, beside, api, beside].map(({ services }) => rotateKey(services, orgId, COMMAND_LINE))
    const keyids = new Set((await Promise.all(rotations)).map(({ keyid }) => keyid))
    const keys = await keysOf(key)
    assert.equal(keys.length, keyids.size + 1)
    assert.equal(keys.filter(({ keyid }: { keyid: string }) => keyids.has(keyid)).length, keyids.size)
  } finally {
    await beside.close()
  }
})

test('the private key is stored sealed, and opens for its own organization only', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  await keysOf(one.key)
  await keysOf(other.key)
  const { sql } = api.services
  const [row] = await sql`select sealed_private_key from signing_keys where org_id = ${one.orgId}`
  assert.match(row?.sealed_private_key, /^v1\.[A-Za-z0-9_-]+$/)
  await sql`update signing_keys set sealed_private_key = ${row?.sealed_private_key} where org_id = ${other.orgId}`
  await assert.rejects(loadCurrentSigner(api.services, other.orgId), {
    status: 503,
    message: /was not stored by this server/,
  })
})

test('keys of other organizations are not listed; the scope read:attestations is required', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  assert.notDeepEqual(await keysOf(one.key), await keysOf(other.key))
  const { key } = await api.caller({ scopes: ['read:deployments'] })
  assert.equal((await api.request('GET', '/v1/provenance/keys', { key })).status, 403)
  const team = await api.caller({ plan: 'team' })
  assert.equal((await keysOf(team.key)).length, 1)
})

test('a key in AWS KMS signs; its private part is never stored', async () => {
  const { key, orgId } = await api.caller()
  const [local] = await keysOf(key)
  kms.addKey('alias/release')
  const services = withKms('alias/release')
  const signer = await loadCurrentSigner(services, orgId)
  const [current, retired] = await keysOf(key)
  assert.equal(signer.keyid, current.keyid)
  assert.equal(retired.keyid, local.keyid)
  await assertSigns(services, orgId, current)
  const [row] = await api.services.sql`
    select sealed_private_key, kms_key from signing_keys where org_id = ${orgId} and retired_at is null`
  assert.deepEqual({ ...row }, { sealed_private_key: null, kms_key: 'alias/release' })
})

test('a KMS key stays the current one while a server without the setting runs; rotation moves back', async () => {
  const { orgId } = await api.caller()
  kms.addKey('alias/kept')
  const { keyid } = await loadCurrentSigner(withKms('alias/kept'), orgId)
  assert.equal((await loadCurrentSigner(withKms(null), orgId)).keyid, keyid)
  const rotated = await rotateKey(withKms(null), orgId, COMMAND_LINE)
  assert.equal(rotated.kms_key, null)
  assert.equal((await loadCurrentSigner(withKms('alias/kept'), orgId)).keyid, rotated.keyid)
})

test('rotation with the same KMS key is refused, with another one it succeeds', async () => {
  const { orgId } = await api.caller()
  kms.addKey('alias/first')
  kms.addKey('alias/second')
  await loadCurrentSigner(withKms('alias/first'), orgId)
  await assert.rejects(rotateKey(withKms('alias/first'), orgId, COMMAND_LINE), { code: 'key_in_use' })
  assert.equal((await rotateKey(withKms('alias/second'), orgId, COMMAND_LINE)).kms_key, 'alias/second')
})

test('an alias that was moved to another key does not sign', async () => {
  const { orgId } = await api.caller()
  kms.addKey('alias/moved')
  const services = withKms('alias/moved')
  await loadCurrentSigner(services, orgId)
  kms.addKey('alias/moved')
  const signer = await loadCurrentSigner(services, orgId)
  await assert.rejects(signer.sign(BYTES), { status: 503, code: 'unavailable' })
  const rotated = await rotateKey(services, orgId, COMMAND_LINE)
  await assertSigns(services, orgId, rotated)
})

test('503 unavailable while KMS is down, has no such key, or has one of another kind', async () => {
  const { orgId } = await api.caller()
  await assert.rejects(loadCurrentSigner(withKms('alias/none'), orgId), { status: 503, code: 'unavailable' })
  kms.addKey('alias/rsa', 'RSA_2048')
  await assert.rejects(loadCurrentSigner(withKms('alias/rsa'), orgId), /must be a key for SIGN_VERIFY/)
  kms.addKey('alias/down')
  const services = withKms('alias/down')
  const signer = await loadCurrentSigner(services, orgId)
  kms.state.isDown = true
  try {
    await assert.rejects(signer.sign(BYTES), { status: 503, code: 'unavailable' })
  } finally {
    kms.state.isDown = false
  }
  assert.ok((await signer.sign(BYTES)).length > 60)
})

test('keys are listed while the next key cannot be read in AWS KMS', async () => {
  const { key, orgId } = await api.caller()
  const [local] = await keysOf(key)
  assert.deepEqual(await listPublicKeys(withKms('alias/none'), orgId), [local])
  kms.addKey('alias/other-kind', 'RSA_2048')
  assert.deepEqual(await listPublicKeys(withKms('alias/other-kind'), orgId), [local])
  const fresh = await api.caller()
  await assert.rejects(listPublicKeys(withKms('alias/none'), fresh.orgId), { status: 503, code: 'unavailable' })
})

test('400 for an unknown query parameter', async () => {
  const { key } = await api.caller()
  assertError(await api.request('GET', '/v1/provenance/keys?limit=1', { key }), 400, 'invalid_request')
})

test('a retired KMS key is ours or not only where KMS has answered; the upgrade is repeated otherwise', async () => {
  const { orgId } = await api.caller()
  kms.addKey('alias/retired')
  await loadCurrentSigner(withKms('alias/retired'), orgId)
  const key = await findCurrentKey(api.services.sql, orgId)
  assert.ok(key)
  const services = withKms(null)
  assert.equal(await isOwnKey(services, orgId, key), true)
  assert.equal(await isOwnKey(services, orgId, { ...key, kms_key: 'alias/unknown', sealed_private_key: null }), false)
  kms.state.isDown = true
  try {
    await assert.rejects(isOwnKey(services, orgId, key), { status: 503, code: 'unavailable' })
    await openLogKey(api.services)
    await removeMacs(api.services)
    await assert.rejects(authenticateRows(api.services), { status: 503 })
    assert.equal(await hasMacs(api.services, api.services.sql), false)
  } finally {
    kms.state.isDown = false
  }
  await authenticateRows(api.services)
  assert.equal(await hasMacs(api.services, api.services.sql), true)
  assert.notEqual((await findCurrentKey(api.services.sql, orgId))?.mac ?? null, null)
})
