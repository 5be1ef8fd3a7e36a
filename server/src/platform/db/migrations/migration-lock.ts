import { setTimeout as delay } from 'node:timers/promises'
import { getSqlState, type Sql, type Tx } from '../sql.ts'

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
      if (![LOCK_NOT_AVAILABLE, DEADLOCK].includes(getSqlState(error) ?? '')) throw error
      if (tries === TABLE_TRIES_MAX) throw await tablesInUse(sql, name, error)
      await delay(Math.min(BACKOFF_MS_MAX, tries * POLL_MS))
    }
  }
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
export async function lockSession(connection: Sql): Promise<void> {
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
