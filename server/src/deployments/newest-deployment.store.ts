import type { Db } from '../platform/db/sql.ts'

/** The ids of the newest successful deployments of a code host to production. */
export async function listNewestInProduction(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from deployments
    where org_id = ${orgId}
      and environment = 'production'
      and status = 'success'
      and host_id is not null
    order by created_at desc, id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}
