import { createHash, type KeyObject } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { computeDerivedKey, loadSecretKey } from '../src/platform/crypto/secret-key.ts'
import { openEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { findLogState, insertLogEntry } from '../src/provenance/log/log.store.ts'
import { computeEntryMac } from '../src/provenance/log/log-mac.ts'
import { type Benchmark, interleave, type Round } from './benchmark.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 5
const ENTRIES = 4000
const SINGLE_ROUNDS = 15
const CONNECTIONS = 16
const POLL_MS = 20

/** That of the server which numbers the entries. */
let integrityKey: KeyObject

export const transparencyLog: Benchmark<Setting>[] = [
  {
    name: 'log entries until their checkpoint',
    about: `${ENTRIES} transactions of one entry each over ${CONNECTIONS} connections, until a signed checkpoint covers the last one, beside a bare INSERT of the same rows`,
    unit: 'entries/s',
    bar: { of: 'ours', atLeast: 500 },
    measure: (setting) => onConnections(setting, (sql) => measureRates(sql)),
  },
  {
    name: 'log entry until its checkpoint',
    about: 'from the commit of one entry to the signed checkpoint that covers it, beside the commit of a bare row',
    unit: 'ms',
    bar: { of: 'ours', atMost: 1000 },
    measure: (setting) => onConnections(setting, (sql) => measureDelays(sql)),
  },
]

async function onConnections({ directory }: Setting, measure: (sql: Sql) => Promise<Round[]>): Promise<Round[]> {
  integrityKey = computeDerivedKey(await loadSecretKey(undefined, directory), 'integrity of stored rows')
  const postgres = await openEmbeddedPostgres({ dataDir: directory })
  const sql = openSql(postgres.connection, { max: CONNECTIONS, applicationName: 'bench' })
  try {
    await sql`
      create table if not exists bare_log_entries (
        id bigint generated always as identity primary key,
        kind text not null,
        sha256 bytea not null,
        unique (kind, sha256)
      )`
    return await measure(sql)
  } finally {
    await sql.end()
    await postgres.close()
  }
}

function measureRates(sql: Sql): Promise<Round[]> {
  const perSecond =
    (store: (number: number) => Promise<unknown>, stored: () => Promise<void>) => async (round: number) => {
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: ENTRIES }, (_, at) => store(round * ENTRIES + at)))
      await stored()
      return ENTRIES / ((performance.now() - startedAt) / 1000)
    }
  const ours = perSecond(
    (number) => addOne(sql, number),
    () => untilSequenced(sql),
  )
  return interleave(
    ROUNDS,
    ours,
    perSecond(
      (number) => insertBare(sql, number),
      async () => {},
    ),
  )
}

/** The entries of this benchmark follow those of the other one. */
function measureDelays(sql: Sql): Promise<Round[]> {
  const first = ROUNDS * ENTRIES
  const ours = async (round: number) => {
    await addOne(sql, first + round)
    const startedAt = performance.now()
    await untilSequenced(sql)
    return performance.now() - startedAt
  }
  const bare = async (round: number) => {
    const startedAt = performance.now()
    await insertBare(sql, first + round)
    return performance.now() - startedAt
  }
  return interleave(SINGLE_ROUNDS, ours, bare)
}

async function addOne(sql: Sql, number: number): Promise<void> {
  const entry = { kind: 'statement', sha256: digestOf(number) } as const
  await sql.begin((tx) => insertLogEntry(tx, entry, computeEntryMac(integrityKey, entry)))
}

async function insertBare(sql: Sql, number: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`insert into bare_log_entries (kind, sha256) values ('statement', ${digestOf(number)})`
  })
}

async function untilSequenced(sql: Sql): Promise<void> {
  const [{ count }] = await sql<[{ count: number }]>`select count(*)::int as count from log_entries`
  while (((await findLogState(sql)).size ?? 0) < count) await delay(POLL_MS)
}

function digestOf(number: number): Buffer {
  return createHash('sha256').update(`bench ${number}`).digest()
}
