import type Postgres from 'postgres'
import { readSocketUrl } from './database-url.ts'
import { postgres } from './driver/postgres.ts'
import { measurePool } from './pools.ts'
import { primaryOf } from './primary-server.ts'
import { observeStatements } from './statements.ts'

export type Sql = Postgres.Sql<{ bigint: number }>
export type Tx = Postgres.TransactionSql<{ bigint: number }>
/** A connection or a transaction: the first parameter of every store function. */
export type Db = Sql | Tx

/** How to reach a PostgreSQL: a URL, or the parts of one with a socket's directory as the host. */
export type DatabaseAddress = string | { host: string; port: number; database: string; user: string }

type SqlOptions = {
  max: number
  applicationName: string
  statementTimeoutMs?: number
  /** Keeps connections open instead of replacing them periodically, so that session locks last. */
  lasting?: true
}

const CONNECT_SECONDS_MAX = 10
const FOLLOWED_CONNECT_SECONDS_MAX = 3
const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000

/**
 * Opens a pool, which connects on first use. Queries on one connection are prepared and pipelined.
 */
export function openSql(address: DatabaseAddress, options: SqlOptions): Sql {
  const settings: Postgres.Options<{ bigint: Postgres.PostgresType<number> }> = {
    max: options.max,
    connect_timeout: CONNECT_SECONDS_MAX,
    ...(options.lasting ? { max_lifetime: null } : {}),
    backoff: reconnectDelaySeconds,
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: options.applicationName,
      // Times that are read as text are in UTC and start with the year.
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  }
  const sql = openPool(address, settings)
  observeStatements(sql``)
  measurePool(sql, options.applicationName, options.max)
  return sql
}

function openPool(
  address: DatabaseAddress,
  settings: Postgres.Options<{ bigint: Postgres.PostgresType<number> }>,
): Sql {
  if (typeof address !== 'string') return postgres({ ...address, ...settings })
  const primary = primaryOf(address)
  if (primary !== null) return postgres(primary.url, { ...settings, ...followed(primary) })
  const socket = readSocketUrl(address)
  if (socket === null) return postgres(address, settings)
  return postgres(`postgres://localhost?${socket.parameters}`, { ...settings, ...socket.endpoint })
}

/** A connection to a server that was a standby when it was connected is not used. */
function followed(primary: NonNullable<ReturnType<typeof primaryOf>>) {
  const socket = () => primary.connect()
  return { socket, target_session_attrs: 'primary', connect_timeout: FOLLOWED_CONNECT_SECONDS_MAX } as const
}

/**
 * Opens a separate connection to the database of a pool. It is usable while the pool is exhausted.
 */
export function openAside(sql: Sql): Sql {
  return postgres({ ...sql.options, max: 1 } as unknown as Postgres.Options<{ bigint: Postgres.PostgresType<number> }>)
}

/** Bounds the delay of reconnects. The default of postgres.js grows to 20 s. */
function reconnectDelaySeconds(retries: number): number {
  return Math.min(0.01 * 2 ** retries, 0.5)
}

/** Throws if the database does not respond. */
export async function checkSql(sql: Sql): Promise<void> {
  await sql`select 1`
}

/** The SQLSTATE of a failed statement, or null if the error is not from PostgreSQL. */
export function sqlState(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? error.code : null
}

export const UNIQUE_VIOLATION = '23505'

/** The server's version in PostgreSQL's numbering: `180004` is 18.4. */
export async function serverVersion(sql: Db): Promise<number> {
  const [row] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
  return row.version
}

/** The current time of the database server, not the start of the transaction. */
export async function serverTime(sql: Sql): Promise<Date> {
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

export async function replicationState(sql: Sql): Promise<ReplicationState> {
  const [row] = await sql<[ReplicationState]>`
    select pg_is_in_recovery() as is_standby, current_setting('synchronous_standby_names') as waits_for,
      (select count(*) from pg_stat_replication)::int as standbys`
  return row
}
