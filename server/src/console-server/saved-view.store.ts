import type { Static } from 'typebox'
import { type Db, getSqlState, type Tx, UNIQUE_VIOLATION } from '../platform/db/sql.ts'
import type { NewSavedView } from './saved-view.schema.ts'

/** Whose views: those of a person in one organization. */
export type Owner = { orgId: string; userId: string }

type StoredView = Static<typeof NewSavedView> & { id: string; created_at: Date }

/** The views of a person by name. */
export async function listSavedViews(db: Db, { orgId, userId }: Owner): Promise<StoredView[]> {
  return db<StoredView[]>`
    select id, list, name, search, created_at
    from saved_views
    where org_id = ${orgId}
      and user_id = ${userId}
    order by lower(name), id`
}

export async function countSavedViews(db: Db, { orgId, userId }: Owner): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from saved_views
    where org_id = ${orgId}
      and user_id = ${userId}`
  return row?.count ?? 0
}

/** False if the person has a view with this name. */
export async function insertSavedView(tx: Tx, { orgId, userId }: Owner, view: StoredView): Promise<boolean> {
  try {
    await tx.savepoint(
      (point) => point`
        insert into saved_views (org_id, user_id, id, list, name, search, created_at)
        values (
          ${orgId}, ${userId}, ${view.id}, ${view.list}, ${view.name}, ${tx.json(view.search)}, ${view.created_at}
        )`,
    )
    return true
  } catch (error) {
    if (getSqlState(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

/** False if the person has no such view. */
export async function deleteSavedView(db: Db, { orgId, userId }: Owner, id: string): Promise<boolean> {
  const { count } = await db`
    delete from saved_views
    where org_id = ${orgId}
      and user_id = ${userId}
      and id = ${id}`
  return count > 0
}
