import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import {
  ADDRESS_LIFETIME_MS,
  type ExpectedObject,
  ObjectNotFoundError,
  type ObjectStore,
  type PresignedPut,
} from '../../src/platform/objects/object-store.ts'

/**
 * A store whose addresses work while it is open. Addresses are checked against the real clock, as a
 * foreign store would.
 */
interface StoreUnderTest {
  store: ObjectStore
  close(): Promise<void>
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What a client declares that is about to send `bytes`. */
export function expectationOf(bytes: Uint8Array): ExpectedObject {
  return { sizeBytes: bytes.length, sha256: sha256(bytes), contentType: 'application/octet-stream' }
}

export async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Readable.from(bytes).toArray())
}

/**
 * Sends a body to a slot as a client would, with the slot's headers except where `headers` says
 * otherwise.
 */
export async function send(
  { url, method, headers }: PresignedPut,
  body: Uint8Array,
  changed: Record<string, string> = {},
) {
  return await fetch(url, { method, headers: { ...headers, ...changed }, body: Buffer.from(body) })
}

function assertRefused({ status }: Response): void {
  assert.ok(status >= 400 && status < 500, `answered ${status}`)
}

/** When an address must have been given out to have expired a minute before `date`. */
function expiredBy(date: Date): Date {
  return new Date(date.getTime() - ADDRESS_LIFETIME_MS - 60_000)
}

const NOT_KEYS = [
  '',
  '/',
  '..',
  '../secret-key',
  'a/../b',
  '/a',
  'a//b',
  'a/',
  'a.b',
  'a%2fb',
  'a\\b',
  'a\0',
  'a'.repeat(65),
]

/** What every object store promises. The same suite runs over each one. */
export function objectStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`object store contract: ${name}`, () => {
    let under: StoreUnderTest
    let store: ObjectStore
    before(async () => {
      under = await makeStore()
      store = under.store
    })
    after(() => under.close())

    let keysMade = 0
    const newKey = () => `contract/${process.pid}/k-${keysMade++}`
    const slot = (key: string, bytes: Uint8Array, now = new Date()) => store.presignPut(key, expectationOf(bytes), now)
    const put = async (key: string, bytes: Uint8Array) => {
      const response = await send(await slot(key, bytes), bytes)
      assert.equal(response.status, 200, await response.text())
    }

    test('a slot is a PUT with its headers, valid for 15 minutes', async () => {
      const now = new Date()
      const { method, headers, expires_at } = await slot(newKey(), Buffer.from('x'), now)
      assert.equal(method, 'PUT')
      assert.equal(expires_at.getTime(), now.getTime() + 15 * 60_000)
      assert.equal(headers['Content-Type'], 'application/octet-stream')
      assert.ok(Object.values(headers).includes(Buffer.from(sha256(Buffer.from('x')), 'hex').toString('base64')))
    })

    test('200 with an empty body when the expected bytes are sent, and they are stored', async () => {
      const key = newKey()
      const bytes = randomBytes(300_000)
      const response = await send(await slot(key, bytes), bytes)
      assert.equal(response.status, 200)
      assert.equal(await response.text(), '')
      assert.deepEqual(await store.stat(key), { sizeBytes: bytes.length, sha256: sha256(bytes) })
      assert.ok((await collect(store.read(key))).equals(bytes))
    })

    test('200 again when the same bytes are sent again', async () => {
      const key = newKey()
      const bytes = Buffer.from('the same')
      const address = await slot(key, bytes)
      assert.equal((await send(address, bytes)).status, 200)
      assert.equal((await send(address, bytes)).status, 200)
      assert.equal((await collect(store.read(key))).toString(), 'the same')
    })

    test('the program itself stores what is as expected, and nothing else', async () => {
      for (const size of [0, 10, 5 * 1024 * 1024]) {
        const key = newKey()
        const bytes = randomBytes(size)
        const parts = () => Readable.from([bytes.subarray(0, size >> 1), bytes.subarray(size >> 1)])
        await store.write(key, expectationOf(bytes), parts())
        assert.deepEqual(await store.stat(key), { sizeBytes: size, sha256: sha256(bytes) })
        assert.ok((await collect(store.read(key))).equals(bytes))
        const others = [
          { ...expectationOf(bytes), sizeBytes: size + 1 },
          { ...expectationOf(bytes), sha256: sha256(Buffer.from('other')) },
        ]
        for (const other of others) {
          const otherKey = newKey()
          await assert.rejects(store.write(otherKey, other, parts()), { status: 400 })
          assert.equal(await store.stat(otherKey), null)
        }
      }
    })

    test('an empty file can be stored', async () => {
      const key = newKey()
      await put(key, Buffer.alloc(0))
      assert.deepEqual(await store.stat(key), { sizeBytes: 0, sha256: sha256(Buffer.alloc(0)) })
      assert.equal((await collect(store.read(key))).length, 0)
    })

    for (const [what, body] of [
      ['shorter', 'expecte'],
      ['longer', 'expected!'],
      ['different', 'expecteD'],
      ['empty', ''],
    ] as const) {
      test(`a body that is ${what} is refused and not stored`, async () => {
        const key = newKey()
        assertRefused(await send(await slot(key, Buffer.from('expected')), Buffer.from(body)))
        assert.equal(await store.stat(key), null)
      })
    }

    test('a refused body leaves what was stored before', async () => {
      const key = newKey()
      const address = await slot(key, Buffer.from('first'))
      assert.equal((await send(address, Buffer.from('first'))).status, 200)
      assertRefused(await send(address, Buffer.from('other')))
      assert.equal((await collect(store.read(key))).toString(), 'first')
    })

    test('every header of the slot must be sent exactly', async () => {
      const key = newKey()
      const bytes = Buffer.from('headers')
      const address = await slot(key, bytes)
      for (const header of Object.keys(address.headers)) {
        assertRefused(await send(address, bytes, { [header]: 'text/plain' }))
        const { [header]: _left, ...others } = address.headers
        assertRefused(await send({ ...address, headers: others }, bytes))
      }
      assert.equal(await store.stat(key), null)
    })

    test('an expired address is refused: 403', async () => {
      const key = newKey()
      const bytes = Buffer.from('late')
      assert.equal((await send(await slot(key, bytes, expiredBy(new Date())), bytes)).status, 403)
      assert.equal(await store.stat(key), null)
    })

    test('an address with any part of its query altered or left out is refused', async () => {
      const key = newKey()
      const bytes = Buffer.from('altered')
      const address = await slot(key, bytes)
      for (const name of new URL(address.url).searchParams.keys()) {
        for (const alter of [
          (value: string) => `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`,
          () => '',
          null,
        ]) {
          const url = new URL(address.url)
          if (alter) url.searchParams.set(name, alter(url.searchParams.get(name) ?? ''))
          else url.searchParams.delete(name)
          assertRefused(await send({ ...address, url: url.href }, bytes))
        }
      }
      assert.equal(await store.stat(key), null)
    })

    test('a URL for PUT cannot be used for GET', async () => {
      const key = newKey()
      const bytes = Buffer.from('one way')
      const address = await slot(key, bytes)
      await put(key, bytes)
      assertRefused(await fetch(address.url))
    })

    test('many clients sending one file to one slot at once all get 200, and the file is whole', async () => {
      const key = newKey()
      const bytes = randomBytes(1_000_000)
      const address = await slot(key, bytes)
      const responses = await Promise.all(Array.from({ length: 6 }, () => send(address, bytes)))
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
      assert.ok((await collect(store.read(key))).equals(bytes))
    })

    test('of two files sent to one key at once, one is stored whole, with its own checksum', async () => {
      const key = newKey()
      const files = [randomBytes(500_000), randomBytes(400_000)]
      await Promise.all(files.map((bytes) => put(key, bytes)))
      const kept = await collect(store.read(key))
      assert.ok(files.some((bytes) => bytes.equals(kept)))
      assert.deepEqual(await store.stat(key), { sizeBytes: kept.length, sha256: sha256(kept) })
    })

    test('the last file sent to a key replaces the one before', async () => {
      const key = newKey()
      await put(key, Buffer.from('a long first file'))
      await put(key, Buffer.from('second'))
      assert.equal((await collect(store.read(key))).toString(), 'second')
    })

    test('reading can stop early and the object can be read again', async () => {
      const key = newKey()
      const bytes = randomBytes(2_000_000)
      await put(key, bytes)
      for await (const chunk of store.read(key)) {
        assert.ok(chunk.length < bytes.length, 'the object comes in parts')
        break
      }
      assert.ok((await collect(store.read(key))).equals(bytes))
    })

    test('nothing stored: stat is null, read throws', async () => {
      const key = newKey()
      assert.equal(await store.stat(key), null)
      await assert.rejects(collect(store.read(key)), ObjectNotFoundError)
    })

    test('a removed object does not exist, and removing it again is not an error', async () => {
      const key = newKey()
      await put(key, Buffer.from('gone'))
      await store.remove(key)
      assert.equal(await store.stat(key), null)
      await store.remove(key)
      await put(key, Buffer.from('back'))
      assert.equal((await collect(store.read(key))).toString(), 'back')
    })

    test('what is not a key is refused by every method', async () => {
      for (const key of NOT_KEYS) {
        await assert.rejects(slot(key, Buffer.from('x')), TypeError, key)
        await assert.rejects(store.stat(key), TypeError, key)
        await assert.rejects(collect(store.read(key)), TypeError, key)
        await assert.rejects(store.remove(key), TypeError, key)
      }
    })

    test('check succeeds when the store is reachable', async () => {
      await store.check()
    })
  })
}
