import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { type SignedStatement, verifyStatement } from './verify-statement.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const KEY = keyOf(publicKey)
const TYPE = 'application/vnd.in-toto+json'
const COMMIT = 'b'.repeat(40)

function keyOf(key: KeyObject) {
  const der = key.export({ type: 'spki', format: 'der' })
  return {
    keyid: createHash('sha256').update(der).digest('hex'),
    pem: key.export({ type: 'spki', format: 'pem' }) as string,
  }
}

/** A statement that is signed as the server signs (DSSE). */
function signed(predicate: object, predicateType = 'https://slsa.dev/verification_summary/v1'): SignedStatement {
  const subject = [{ name: 'git+https://github.com/acme/shop', digest: { gitCommit: COMMIT } }]
  const statement = { _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate }
  const payload = Buffer.from(JSON.stringify(statement))
  const bytes = Buffer.concat([Buffer.from(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload])
  const sig = sign('sha256', bytes, privateKey).toString('base64')
  return {
    envelope: { payloadType: TYPE, payload: payload.toString('base64'), signatures: [{ keyid: KEY.keyid, sig }] },
    statement_digest: `sha256:${createHash('sha256').update(payload).digest('hex')}`,
  }
}

async function failed(statement: SignedStatement, keys = [KEY], commit?: string): Promise<string[]> {
  const checks = await verifyStatement(statement, { keys, logKey: null, commit })
  return checks.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name)
}

test('a statement with a signature of a known key is verified', async () => {
  // Numbers of a signature with a leading zero, or shorter than 32 bytes, occur once in a few tries.
  for (let tries = 0; tries < 300; tries++) assert.deepEqual(await failed(signed({ tries })), [])
})

test('a changed payload, another key and another commit are refused', async () => {
  const statement = signed({ verificationResult: 'PASSED' })
  const other = signed({ verificationResult: 'FAILED' })
  const payload = other.envelope.payload
  assert.deepEqual(await failed({ ...statement, envelope: { ...statement.envelope, payload } }), [
    'Signature',
    'Digest',
  ])
  const stranger = keyOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)
  assert.deepEqual(await failed(statement, [stranger]), ['Signature'])
  assert.deepEqual(await failed(statement, [stranger, KEY]), [])
  assert.deepEqual(await failed(statement, [KEY], 'a'.repeat(40)), ['Subject'])
})

test('a key that does not have its fingerprint, and a signature that is none, are refused', async () => {
  const statement = signed({})
  assert.deepEqual(await failed(statement, [{ ...KEY, keyid: '0'.repeat(64) }]), ['Signature'])
  for (const sig of ['', 'AAAA', '!', 'MAA=']) {
    const signatures = [{ keyid: KEY.keyid, sig }]
    assert.deepEqual(
      await failed({ ...statement, envelope: { ...statement.envelope, signatures } }),
      ['Signature'],
      sig,
    )
  }
})

test('the record of a change has the hash that its link states', async () => {
  const record = { id: 'chg_1', commits: { merge: COMMIT }, repository: { host: 'github.com', full_name: 'acme/shop' } }
  // RFC 8785: the keys are sorted.
  const canonical = `{"commits":{"merge":"${COMMIT}"},"id":"chg_1","repository":{"full_name":"acme/shop","host":"github.com"}}`
  const hash = createHash('sha256').update(Buffer.alloc(32)).update(canonical).digest('hex')
  const predicate = { record, chain: { index: 0, hash, previous_hash: null }, amendments: [] }
  const type = 'https://shiplock.dev/change-record/v1'
  assert.deepEqual(await failed(signed(predicate, type)), [])
  const rewritten = { ...predicate, record: { ...record, title: 'Another' } }
  assert.deepEqual(await failed(signed(rewritten, type)), ['Hash chain'])
})
