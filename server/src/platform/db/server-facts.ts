import type { Sql } from './sql.ts'

/** `180004` is 18.4: PostgreSQL's own numbering of its versions. */
export async function serverVersion(sql: Sql): Promise<number> {
  const [row] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`
  return row.version
}

/** The database server's clock, now rather than at the start of the transaction. */
export async function serverTime(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ at: Date }]>`select clock_timestamp() as at`
  return row.at
}
