import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { openSql } from './sql.ts'
import { copyBytes, copyField, copyFields, copyTable } from './table-copy.ts'

test('what separates fields and lines is escaped within them', () => {
  assert.equal(copyField('a\tb\nc\rd\\e'), 'a\\tb\\nc\\rd\\\\e')
  assert.equal(copyFields(['\t', '', '\\N', null, 1.5, false]), '\\t\t\t\\\\N\t\\N\t1.5\tfalse')
})

test('lists are array literals with any content', () => {
  assert.equal(copyField([]), '{}')
  assert.equal(copyField(['CWE-79', 'a"b', 'c\\d', '{,}', 'NULL']), '{"CWE-79","a\\\\"b","c\\\\\\\\d","{,}","NULL"}')
})

test('bytes are written as hex', () => {
  assert.equal(copyField(Buffer.from([0, 255])), '\\\\x00ff')
  assert.equal(copyBytes('00ff'), '\\\\x00ff')
  assert.equal(copyBytes(null), '\\N')
})

const TABLE = { name: 'public.copied', columns: ['text'], is_partitioned: false, bytes: 0 }
const DEADLINE_MS = 60_000
/** Long enough for what was sent to arrive. If it does not, the test only sees less. */
const ARRIVAL_MS = 50

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  const sql = openSql(database.connection, { max: 1, applicationName: 'test' })
  await sql`create table copied (text text)`
  await sql.end()
})
after(() => database?.drop())

test('the connection is usable after every length of a table', { timeout: DEADLINE_MS }, async () => {
  const sql = openSql(database.connection, { max: 1, applicationName: 'test' })
  try {
    for (let rows = 0; rows < 400; rows += 7) {
      await store(sql, rows)
      await sql.begin(async (tx) => {
        const copied = copyTable(tx, TABLE)
        assert.equal((await buffer(copied.bytes)).length, rows * 1001)
        assert.equal(copied.rows(), rows)
        await tx`select 1`
      })
    }
  } finally {
    await sql.end({ timeout: 0 })
  }
})

test('the connection is usable when the end of the statement arrives after a slow reader has paused it', {
  timeout: DEADLINE_MS,
}, async () => {
  await using proxy = await startProxy(database.url)
  const sql = openSql(proxy.url, { max: 1, applicationName: 'test' })
  try {
    for (const rows of [100, 140, 180, 220, 260]) {
      await store(sql, rows)
      await sql.begin(async (tx) => {
        let bytes = 0
        for await (const chunk of copyTable(tx, TABLE).bytes) {
          bytes += chunk.length
          await delay(ARRIVAL_MS)
        }
        assert.equal(bytes, rows * 1001)
        await tx`select 1`
      })
    }
  } finally {
    await sql.end({ timeout: 0 })
  }
})

async function store(sql: ReturnType<typeof openSql>, rows: number): Promise<void> {
  await sql`truncate copied`
  await sql`insert into copied select repeat('x', 1000) from generate_series(1, ${rows}::int)`
}

const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4])

/** Passes on what follows the last row of a COPY after a pause, as a slow network would. */
async function startProxy(url: string) {
  const { hostname, port, searchParams, pathname, username, password } = new URL(url)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port || 5432}` } : { host, port: Number(port) }
  const proxy = createServer((client) => {
    const server = connectSocket(target as never)
    client.pipe(server)
    server.on('data', async (chunk: Buffer) => {
      const end = chunk.indexOf(COPY_DONE)
      if (end < 0) return client.write(chunk)
      server.pause()
      client.write(chunk.subarray(0, end + COPY_DONE.length))
      await delay(4 * ARRIVAL_MS)
      client.write(chunk.subarray(end + COPY_DONE.length))
      server.resume()
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address() as AddressInfo
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${address.port}${pathname}`,
    [Symbol.asyncDispose]: async () => void proxy.close(),
  }
}
