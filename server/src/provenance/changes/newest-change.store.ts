import type { Db } from '../../platform/db/sql.ts'

/** The ids of the changes that landed last. */
export async function listNewestChanges(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from changes
    where org_id = ${orgId}
    order by created_at desc, id desc
    limit ${limit}`
  return rows.map(({ id }) => id)
}
