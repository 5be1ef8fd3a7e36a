import postgres from 'postgres'
import { readSocketUrl } from './database-url.ts'

export type Sql = postgres.Sql<{ bigint: number }>
export type Tx = postgres.TransactionSql<{ bigint: number }>
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

const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000

/**
 * Opens a pool, which connects on first use. Queries on one connection are prepared and pipelined.
 */
export function openSql(address: DatabaseAddress, options: SqlOptions): Sql {
  const settings: postgres.Options<{ bigint: postgres.PostgresType<number> }> = {
    max: options.max,
    connect_timeout: 10,
    ...(options.lasting ? { max_lifetime: null } : {}),
    backoff: reconnectDelaySeconds,
    onnotice: () => {},
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: options.applicationName,
      TimeZone: 'UTC',
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    },
  }
  if (typeof address !== 'string') return postgres({ ...address, ...settings })
  const socket = readSocketUrl(address)
  if (socket === null) return postgres(address, settings)
  return postgres(`postgres://localhost?${socket.parameters}`, { ...settings, ...socket.endpoint })
}

/**
 * Opens a separate connection to the database of a pool. It is usable while the pool is exhausted.
 */
export function openAside(sql: Sql): Sql {
  return postgres({ ...sql.options, max: 1 } as unknown as postgres.Options<{ bigint: postgres.PostgresType<number> }>)
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
export async function serverVersion(sql: Sql): Promise<number> {
  const [row] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
  return row.version
}

/** The current time of the database server, not the start of the transaction. */
export async function serverTime(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ at: Date }]>`select clock_timestamp() as at`
  return row.at
}
