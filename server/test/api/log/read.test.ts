import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { HASH_BYTES, hashLeaf, hashOfSubtrees, hashTree } from '../../../src/provenance/log/merkle-tree.ts'
import { appendPendingEntries } from '../../../src/provenance/log/sequence-log.ts'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { assertError, assertInvalid } from '../../support/assert-error.ts'
import { addLogEntries, logEntry } from '../../support/log-entries.ts'
import { openCheckpoint } from '../../support/log-reader.ts'

const SIZE = 2 * 256 + 40
const IMMUTABLE = 'public, max-age=31536000, immutable'

let api: TestApi
let verifierKey: string

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function getBytes(path: string): Promise<Buffer> {
  const response = await fetch(`${api.url}/log/tile/${path}`)
  assert.equal(response.status, 200, path)
  assert.equal(response.headers.get('content-type'), 'application/octet-stream')
  assert.equal(response.headers.get('cache-control'), IMMUTABLE)
  return Buffer.from(await response.arrayBuffer())
}

async function getCheckpoint() {
  const answer = await api.request('GET', '/log/checkpoint')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=1')
  return openCheckpoint(answer.text, verifierKey)
}

test('GET /log/key returns a verifier key with the host of the base URL, always the same', async () => {
  const answer = await api.request('GET', '/log/key')
  verifierKey = answer.text
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  const { host } = new URL(api.services.config.baseUrl)
  assert.match(verifierKey, /^[^+ ]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/)
  assert.ok(verifierKey.startsWith(`${host}/log+`))
  assert.equal((await api.request('GET', '/log/key')).text, verifierKey)
})

test('the empty log has a checkpoint of size 0, and no tiles', async () => {
  const { origin, size, root } = await getCheckpoint()
  assert.deepEqual([origin, size, root], [`${new URL(api.services.config.baseUrl).host}/log`, 0, hashTree([])])
  assertError(await api.request('GET', '/log/tile/0/000.p/1'), 404, 'not_found')
})

test('the checkpoint follows from the entries and from the tiles', async () => {
  await addLogEntries(api.services, 0, SIZE)
  await appendPendingEntries(api.services)
  const bundles = await Promise.all(['entries/000', 'entries/001', 'entries/002.p/40'].map(getBytes))
  const hashes = bundles.flatMap(readBundle).map(hashLeaf)
  const { size, root } = await getCheckpoint()
  assert.deepEqual([size, root], [hashes.length, hashTree(hashes)])
  const leaves = await Promise.all(['0/000', '0/001', '0/002.p/40'].map(getBytes))
  assert.deepEqual(Buffer.concat(leaves), Buffer.concat(hashes))
  const subtrees = await getBytes('1/000.p/2')
  assert.deepEqual(hashOfSubtrees([subtrees, hashTree(hashes.slice(512))].map(asRoot)), root)
})

/** The root of two full tiles, or a hash as it is. */
function asRoot(hashes: Buffer): Buffer {
  return hashTree(Array.from({ length: hashes.length / HASH_BYTES }, (_, at) => hashes.subarray(at * 32, at * 32 + 32)))
}

function readBundle(bundle: Buffer): Buffer[] {
  const entries: Buffer[] = []
  for (let at = 0; at < bundle.length; at += 2 + bundle.readUInt16BE(at)) {
    entries.push(bundle.subarray(at + 2, at + 2 + bundle.readUInt16BE(at)))
  }
  return entries
}

test('entries are the text of their kind and digest', async () => {
  const [first] = readBundle(await getBytes('entries/000.p/1'))
  assert.equal(String(first), `shiplock.dev/log-entry/v1\nchange\n${logEntry(0).sha256.toString('hex')}\n`)
})

test('every width up to the present one is served, also of tiles that are full by now', async () => {
  const [full, last, bundle] = await Promise.all(['0/000', '0/002.p/40', 'entries/002.p/40'].map(getBytes))
  assert.deepEqual(await getBytes('0/000.p/255'), full?.subarray(0, 255 * HASH_BYTES))
  assert.deepEqual(await getBytes('0/002.p/1'), last?.subarray(0, HASH_BYTES))
  const part = await getBytes('entries/002.p/39')
  assert.deepEqual(part, bundle?.subarray(0, part.length))
  assert.equal(readBundle(part).length, 39)
})

const ABSENT = [
  '0/002',
  '0/002.p/41',
  '0/003',
  '1/000',
  '1/000.p/3',
  '2/000.p/1',
  'entries/002',
  'entries/002.p/41',
  'entries/x001/000',
  // Not the path of a tile.
  '0/0',
  '0/000.p/0',
  '0/000.p/256',
  '0/x000/000',
  '00/000',
  '64/000',
  '0/%30%30%30',
  '0/..%2f0/000',
  '0/000/',
  '',
]
for (const path of ABSENT) {
  test(`404 that is not cached for /log/tile/${path}`, async () => {
    const answer = await api.request('GET', `/log/tile/${path}`)
    assertError(answer, 404, 'not_found')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  })
}

for (const path of ['/log/key', '/log/checkpoint', '/log/tile/0/000', '/log/tile/entries/000']) {
  test(`HEAD ${path} has the headers of GET`, async () => {
    const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => fetch(api.url + path, { method })))
    const length = (await get?.arrayBuffer())?.byteLength
    assert.equal(head?.status, 200)
    assert.equal(head?.headers.get('content-length'), String(length))
    assert.equal((await head?.arrayBuffer())?.byteLength, 0)
  })

  test(`400 for a parameter of ${path}, and 405 for POST`, async () => {
    assertInvalid(await api.request('GET', `${path}?fresh=1`), '/query/fresh')
    const answer = await api.request('POST', path)
    assertError(answer, 405, 'method_not_allowed')
    assert.equal(answer.headers.get('allow'), 'GET, HEAD')
  })
}
