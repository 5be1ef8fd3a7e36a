import { setTimeout as delay } from 'node:timers/promises'
import { getSqlState, openAside, type Sql, type Tx } from '../sql.ts'
import { countEstimatedRows, readPosition, readRecords, record, writePosition } from './migration-records.ts'
import type { Migration } from './read-migrations.ts'

const CREATED_INDEX = /create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/gi

/**
 * Runs the statements of a migration one by one, outside of a transaction. Those that block nobody
 * while they wait, such as `create index concurrently`, wait as long as they need. The others make
 * way for the users of their tables, as migrations in transactions do.
 */
export async function runStatements(sql: Sql, migration: Migration): Promise<boolean> {
  const connection = openAside(sql)
  try {
    await lockSession(connection)
    if ((await readRecords(connection)).has(migration.name)) return false
    await connection`select set_config('statement_timeout', '0', false)`
    // The work of a process that was killed ends, so that the next one does not wait for it.
    await connection`select set_config('client_connection_check_interval', '1s', false)`
    await dropInvalidIndexes(connection, migration.text)
    for (const statement of parseStatements(migration.text)) await runStatement(connection, migration.name, statement)
    await record(connection, migration)
    return true
  } finally {
    await connection.end()
  }
}

const BLOCKS_NOBODY = /\bconcurrently\b|\bvalidate\s+constraint\b/i

async function runStatement(connection: Sql, name: string, statement: string): Promise<void> {
  const wait = BLOCKS_NOBODY.test(statement) ? '0' : `${TABLE_WAIT_MS}ms`
  await connection`select set_config('lock_timeout', ${wait}, false)`
  for (let tries = 1; ; tries += 1)
    try {
      await connection.unsafe(statement).simple()
      return
    } catch (error) {
      await makeWay(connection, { name, tries, error })
    }
}

/**
 * An interrupted `create index concurrently` leaves an index that is not used and not completed.
 */
async function dropInvalidIndexes(connection: Sql, text: string): Promise<void> {
  const names = Array.from(text.matchAll(CREATED_INDEX), ([, name = '']) => name)
  if (names.length === 0) return
  const invalid = await connection<{ name: string }[]>`
    select indexrelid::regclass::text as name
    from pg_index
    join pg_class on pg_class.oid = indexrelid
    where not indisvalid
      and relname in ${connection(names)}
      and relnamespace = current_schema()::regnamespace
    limit 100`
  for (const { name } of invalid) await connection.unsafe(`drop index concurrently if exists ${name}`).simple()
}

/** A statement ends with a semicolon at the end of a line. */
export function parseStatements(text: string): string[] {
  const code = text.replace(/^[ \t]*--.*\n/gm, '')
  return code
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** Receives how many rows of how many a migration in batches has handled. */
export type FollowBatches = (rows: number, total: number, table: string) => void

/**
 * Repeats the statement of a migration, each time in a transaction of its own. It gets the position
 * that it has returned before as `$1` (null at first), and returns one row with the next
 * `position`, which is null at the end, and the number of `rows` that it has handled. The position
 * is stored in the same transaction, so that another process continues after an interruption.
 */
export async function runBatches(sql: Sql, migration: Migration, follow: FollowBatches): Promise<boolean> {
  const table = migration.kind.run === 'batches' ? migration.kind.table : ''
  const total = await countEstimatedRows(sql, table)
  for (;;) {
    const rows = await runMigrationStep(sql, migration.name, (tx) => runBatch(tx, migration))
    if (rows === 'applied before') return false
    if (rows === 'ended') return true
    follow(rows, total, `rows of ${table}`)
  }
}

/** Returns the number of rows that all batches have handled. */
async function runBatch(tx: Tx, migration: Migration): Promise<number | 'ended' | 'applied before'> {
  if ((await readRecords(tx)).has(migration.name)) return 'applied before'
  const before = await readPosition(tx, migration.name)
  const [batch] = await tx.unsafe<[{ position: string | null; rows: number }?]>(migration.text, [before.position])
  const after = { position: batch?.position ?? null, rows: before.rows + Number(batch?.rows ?? 0) }
  await writePosition(tx, migration.name, after)
  if (after.position !== null) return after.rows
  await record(tx, migration)
  return 'ended'
}

/** An arbitrary constant. The process that holds this lock migrates; the others wait. */
const MIGRATION_LOCK = 8_420_001
/**
 * How long a migration waits for the lock of a table, because everyone who comes later waits behind
 * it. It is longer than PostgreSQL's `deadlock_timeout`, after which autovacuum makes way.
 */
const TABLE_WAIT_MS = 1500
const TABLE_TRIES_MAX = 120
const BACKOFF_MS_MAX = 5000
const POLL_MS = 100

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/**
 * Runs a step of a migration in a transaction in which no other process migrates. If the tables
 * that it needs are in use, it makes way for their users and retries with a backoff.
 */
export async function runMigrationStep<T>(sql: Sql, name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      const done = await tryStep(sql, work)
      if (done) return done.result
      tries = 0
      await delay(POLL_MS)
    } catch (error) {
      await makeWay(sql, { name, tries, error })
    }
  }
}

/**
 * Waits before the next try of a step whose tables are in use. Throws other errors, and after the
 * last try.
 */
async function makeWay(sql: Sql, { name, tries, error }: { name: string; tries: number; error: unknown }) {
  if (![LOCK_NOT_AVAILABLE, DEADLOCK].includes(getSqlState(error) ?? '')) throw error
  if (tries === TABLE_TRIES_MAX) throw await tablesInUse(sql, name, error)
  await delay(Math.min(BACKOFF_MS_MAX, tries * POLL_MS))
}

/**
 * Returns null if another process migrates. Waiting for the lock inside PostgreSQL would block a
 * `create index concurrently` of the other process, which waits for all older statements.
 */
async function tryStep<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<{ result: T } | null> {
  return sql.begin(async (tx) => {
    const [{ held }] = await tx<[{ held: boolean }]>`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as held`
    if (!held) return null
    await tx`select set_config('statement_timeout', '0', true), set_config('lock_timeout', ${`${TABLE_WAIT_MS}ms`}, true)`
    return { result: await work(tx) }
  }) as Promise<{ result: T } | null>
}

/** Takes the lock for the session of this connection. It ends with the connection. */
async function lockSession(connection: Sql): Promise<void> {
  for (;;) {
    const [{ held }] = await connection<[{ held: boolean }]>`select pg_try_advisory_lock(${MIGRATION_LOCK}) as held`
    if (held) return
    await delay(POLL_MS)
  }
}

/** Names the oldest transaction, which is the likeliest to hold the lock. */
async function tablesInUse(sql: Sql, name: string, cause: unknown): Promise<Error> {
  const [oldest] = await sql<[{ pid: number; application_name: string; seconds: number }?]>`
    select pid, application_name, extract(epoch from clock_timestamp() - xact_start)::int as seconds
    from pg_stat_activity
    where datname = current_database()
      and pid <> pg_backend_pid()
      and xact_start is not null
    order by xact_start
    limit 1`
  const who = oldest
    ? `the oldest transaction is that of process ${oldest.pid} ("${oldest.application_name}"), for ${oldest.seconds} s`
    : 'no transaction is open now'
  return new Error(`Migration ${name} does not get its tables, because they are in use; ${who}. Run it again.`, {
    cause,
  })
}
