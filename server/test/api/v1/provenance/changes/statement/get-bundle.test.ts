import assert from 'node:assert/strict'
import { createHash, createPublicKey } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { bundleFromJSON } from '@sigstore/bundle'
import { type TrustMaterial, toSignedEntity, Verifier } from '@sigstore/verify'
import { type Caller, startTestApi, type TestApi } from '../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../support/assert-error.ts'
import type { Json } from '../../../../../support/json.ts'
import { extendsLog, includes, openCheckpoint } from '../../../../../support/log-reader.ts'
import { recordChange } from '../../../../../support/recorded-changes.ts'

let api: TestApi
let caller: Caller
let path: string

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())
beforeEach(async () => {
  const { id } = await recordChange(api.services, caller.orgId)
  path = `/v1/provenance/changes/${id}/statement`
})

async function read(query: string): Promise<Json> {
  const { status, body, text } = await api.request('GET', path + query, caller)
  assert.equal(status, 200, text)
  return body.data
}

test('the bundle contains the signed envelope, which is the same without it', async () => {
  const { bundle, unsigned, ...signed } = await read('?bundle=true')
  assert.deepEqual(signed, await read(''))
  assert.deepEqual(signed, await read('?bundle=false'))
  const { payload, payloadType, signatures } = signed.envelope
  const [{ keyid, sig }] = signatures
  assert.deepEqual(bundle, {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: keyid } },
    dsseEnvelope: { payload, payloadType, signatures: [{ sig }] },
  })
  assert.deepEqual(Object.keys(unsigned), ['log'])
})

test('@sigstore/verify accepts the bundle with the public key of the API, and refuses a changed payload', async () => {
  const { bundle } = await read('?bundle=true')
  const trust = trustIn((await api.request('GET', '/v1/provenance/keys', caller)).body.data.keys)
  const verify = (json: Json) => {
    const options = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 }
    return new Verifier(trust, options).verify(toSignedEntity(bundleFromJSON(json)))
  }
  verify(bundle)
  const payload = Buffer.from(bundle.dsseEnvelope.payload, 'base64')
  payload.writeUInt8(payload.readUInt8(20) ^ 1, 20)
  const changed = { ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, payload: payload.toString('base64') } }
  assert.throws(() => verify(changed), /signature/)
})

test('the proof shows that the digest of the statement is in the log', async () => {
  const { unsigned, statement_digest } = await read('?bundle=true')
  const { origin, entry, leaf_index, tree_size, inclusion_proof, consistency_proof, checkpoint } = unsigned.log
  assert.equal(entry, `shiplock.dev/log-entry/v1\nstatement\n${statement_digest.slice('sha256:'.length)}\n`)
  const [name, size, root] = checkpoint.split('\n')
  assert.deepEqual([name, size, consistency_proof], [origin, String(tree_size), null])
  assert.equal(computeRoot({ entry, index: leaf_index, size: tree_size, proof: inclusion_proof }), root)
})

test('checkpoint_size adds a consistency proof from that size', async () => {
  const { tree_size } = (await read('?bundle=true')).unsigned.log
  const same = (await read(`?bundle=true&checkpoint_size=${tree_size}`)).unsigned.log
  assert.deepEqual(same.consistency_proof, [])
  const from = (await read('?bundle=true&checkpoint_size=1')).unsigned.log
  assert.ok(from.consistency_proof.length > 0)
  assert.deepEqual((await read('?bundle=true&checkpoint_size=0')).unsigned.log.consistency_proof, [])
})

test('400 for a checkpoint_size that exceeds the log, and for one without bundle=true', async () => {
  const refused = (query: string) => api.request('GET', path + query, caller)
  assertInvalid(await refused('?bundle=true&checkpoint_size=1000000'), '/query/checkpoint_size')
  assertInvalid(await refused('?checkpoint_size=1'), '/query/checkpoint_size')
  assertInvalid(await refused('?bundle=false&checkpoint_size=1'), '/query/checkpoint_size')
})

test('200 after the newest checkpoint was deleted: the proof extends the checkpoint that a reader has kept', async () => {
  await read('?bundle=true')
  const kept = await readCheckpoint()
  await api.services.sql`delete from log_checkpoints where size = ${kept.size}`
  const unsigned = await api.request('GET', '/log/checkpoint')
  assertError(unsigned, 503, 'unavailable')
  assert.equal(unsigned.headers.get('cache-control'), 'no-store')
  const { id } = await recordChange(api.services, caller.orgId)
  path = `/v1/provenance/changes/${id}/statement`
  const proof = (await read(`?bundle=true&checkpoint_size=${kept.size}`)).unsigned.log
  const newest = await readCheckpoint()
  assert.ok(newest.size > kept.size)
  assert.ok(includes(newest, proof))
  assert.ok(extendsLog(kept, newest, proof.consistency_proof))
})

test('503 without a bundle as long as the entries of a lost checkpoint contradict the tiles; the statement stays', async () => {
  await read('?bundle=true')
  const { size } = await readCheckpoint()
  await api.services.sql`delete from log_checkpoints where size = ${size}`
  const flip = () => api.services.sql`
    update log_entries
    set sha256 = set_byte(sha256, 0, 255 - get_byte(sha256, 0))
    where leaf_index = ${size - 1}`
  await flip()
  const { id } = await recordChange(api.services, caller.orgId)
  path = `/v1/provenance/changes/${id}/statement`
  await read('')
  const refused = await api.request('GET', `${path}?bundle=true`, caller)
  assertError(refused, 503, 'unavailable')
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  await flip()
  assert.ok((await read(`?bundle=true&checkpoint_size=${size}`)).unsigned.log.tree_size > size)
})

async function readCheckpoint() {
  const [key, checkpoint] = await Promise.all(['key', 'checkpoint'].map((name) => api.request('GET', `/log/${name}`)))
  return openCheckpoint(checkpoint?.text ?? '', key?.text ?? '')
}

/** Trusts public keys, which are found by the hint of a bundle. */
function trustIn(keys: { keyid: string; pem: string }[]): TrustMaterial {
  return {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: (hint) => {
      const pem = keys.find(({ keyid }) => keyid === hint)?.pem
      assert.ok(pem, `no key ${hint}`)
      return { publicKey: createPublicKey(pem), validFor: () => true }
    },
  }
}

type Inclusion = { entry: string; index: number; size: number; proof: string[] }

/** The root of the tree by the algorithm of RFC 9162 §2.1.3.2, in base64. */
function computeRoot({ entry, index, size, proof }: Inclusion): string {
  let [at, last] = [index, size - 1]
  let hash = sha256(Buffer.of(0), Buffer.from(entry))
  for (const sibling of proof.map((text) => Buffer.from(text, 'base64'))) {
    if (at % 2 === 1 || at === last) {
      hash = sha256(Buffer.of(1), sibling, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
    } else hash = sha256(Buffer.of(1), hash, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return hash.toString('base64')
}

function sha256(...parts: Buffer[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}
