import type { Sql } from './sql.ts'

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
