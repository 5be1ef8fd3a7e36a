import { listOwnedTables } from '../../src/organizations/organization-rows.store.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import type { TestApi } from './api.ts'

/** The number of rows of each table that belong to an organization, with a digest of them. */
export async function rowsOf(sql: Sql, orgId: string): Promise<Map<string, string>> {
  const { tables } = await listOwnedTables(sql)
  const digests = new Map<string, string>()
  for (const name of tables) {
    const [{ digest }] = await sql<[{ digest: string }]>`
      select count(*) || ' ' || coalesce(md5(string_agg(item::text, ';' order by item::text)), '') as digest
      from ${sql(name)} item
      where org_id = ${orgId}`
    digests.set(name, digest)
  }
  return digests
}

/** The number of rows of each table that belong to organizations. */
export async function countRowsOf({ services: { sql } }: TestApi): Promise<Record<string, number>> {
  const { tables } = await listOwnedTables(sql)
  const counts: Record<string, number> = {}
  for (const name of tables) {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from ${sql(name)}`
    counts[name] = count
  }
  return counts
}
