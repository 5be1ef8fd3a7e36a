import { defineGauge } from '../metrics.ts'
import { type Client, openClient } from './client/client.ts'
import { isFromServer } from './client/connection-error.ts'
import type { Transaction } from './client/statements.ts'
import { type Address, type Target, toTarget } from './client/target.ts'
import { getPrimary } from './primary-server.ts'

export type Sql = Client
export type Tx = Transaction
/** A connection or a transaction: the first parameter of every store function. */
export type Db = Sql | Tx

export type DatabaseAddress = Address

type SqlOptions = {
  max: number
  applicationName: string
  statementTimeoutMs?: number
  /** Keeps connections open instead of replacing them periodically, so that session locks last. */
  lasting?: true
}

const CONNECT_MS_MAX = 10_000
const FOLLOWED_CONNECT_MS_MAX = 3000
const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000

/**
 * Opens a pool, which connects on first use. Queries on one connection are prepared and pipelined.
 */
export function openSql(address: DatabaseAddress, options: SqlOptions): Sql {
  const parameters = {
    application_name: options.applicationName,
    // Times that are read as text are in UTC and start with the year.
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    statement_timeout: String(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
  }
  return openClient({
    max: options.max,
    isLasting: options.lasting ?? false,
    exclusive: measurePool(options.applicationName, options.max),
    ...toPlace(address, parameters),
  })
}

/** A connection to a server that was a standby when it was connected is not used. */
function toPlace(address: DatabaseAddress, parameters: Record<string, string>): Place {
  const primary = typeof address === 'string' ? getPrimary(address) : null
  if (primary === null) return { target: () => toTarget(address, { parameters, connectMs: CONNECT_MS_MAX }) }
  const followed = { parameters, connectMs: FOLLOWED_CONNECT_MS_MAX, openSocket: () => primary.track() }
  return { target: () => toTarget(primary.url, followed), primaryMs: FOLLOWED_CONNECT_MS_MAX }
}

type Place = { target(): Target; primaryMs?: number }

/**
 * Opens a separate connection to the database of a pool. It is usable while the pool is exhausted.
 */
export function openAside(sql: Sql): Sql {
  return openClient({ ...sql.options, max: 1, exclusive: () => {} })
}

/** Throws if the database does not respond. */
export async function checkSql(sql: Sql): Promise<void> {
  await sql`select 1`
}

/** The SQLSTATE of a failed statement, or null if the error is not from PostgreSQL. */
export function getSqlState(error: unknown): string | null {
  return isFromServer(error) ? (error.code ?? null) : null
}

export const UNIQUE_VIOLATION = '23505'

/** The server's version in PostgreSQL's numbering: `180004` is 18.4. */
export async function readServerVersion(sql: Db): Promise<number> {
  const [row] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
  return row.version
}

/** The current time of the database server, not the start of the transaction. */
export async function readServerTime(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ at: Date }]>`select clock_timestamp() as at`
  return row.at
}

type ReplicationState = {
  is_standby: boolean
  /** Standbys that are connected. */
  standbys: number
  /** `synchronous_standby_names`: the standbys that commits wait for; empty for none. */
  waits_for: string
}

export async function readReplicationState(sql: Sql): Promise<ReplicationState> {
  const [row] = await sql<[ReplicationState]>`
    select pg_is_in_recovery() as is_standby, current_setting('synchronous_standby_names') as waits_for,
      (select count(*) from pg_stat_replication)::int as standbys`
  return row
}

/** The pools of this process, by name. */
const pools = new Map<string, { connections: number; reserved: number }>()

defineGauge('shiplock_database_pool_connections_max', 'Connections that a pool can open.', ['pool'], function () {
  for (const [pool, { connections }] of pools) this.set({ pool }, connections)
})
defineGauge(
  'shiplock_database_pool_reserved',
  'Connections of a pool that belong to a transaction or another exclusive use.',
  ['pool'],
  function () {
    for (const [pool, { reserved }] of pools) this.set({ pool }, reserved)
  },
)

/** Counts the connections of a pool that are in exclusive use, as told by what is returned. */
function measurePool(name: string, connections: number): (change: 1 | -1) => void {
  const pool = pools.get(name) ?? { connections, reserved: 0 }
  pools.set(name, pool)
  return (change) => {
    pool.reserved += change
  }
}
