import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/lists.ts'
import type { PendingChange } from './pending-change.schema.ts'

/** Changes that wait in an organization. */
export const PENDING_CHANGES_MAX = 100

/** A change with what is stored when it is confirmed. */
export type NewPendingChange = Omit<PendingChange, 'proposed_by'> & { author_id: string; author_name: string }

export async function insertPendingChange(tx: Tx, orgId: string, change: NewPendingChange): Promise<void> {
  const content = change.content === null ? null : tx.json(change.content as never)
  await tx`
    insert into pending_changes (
      org_id, id, kind, action, object_id, name, content, base_version, author_id, author_name, reason, created_at
    )
    values (
      ${orgId}, ${change.id}, ${change.kind}, ${change.action}, ${change.object_id}, ${change.name}, ${content},
      ${change.base_version}, ${change.author_id}, ${change.author_name}, ${change.reason}, ${change.created_at}
    )`
}

export async function countPendingChanges(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from pending_changes
    where org_id = ${orgId}`
  return row.count
}

/** One page of the changes that wait for a second person, newest first, and one more. */
export async function listPendingChanges(db: Db, orgId: string, page: Page): Promise<PendingChange[]> {
  return db<PendingChange[]>`
    select ${columns(db)}
    from pending_changes
    where org_id = ${orgId}
      and ${buildPageCondition(db, page, db`pending_changes`, db`true`)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/**
 * Takes a change out, so that of two who confirm or withdraw it one does. Null if there is none.
 */
export async function deletePendingChange(tx: Tx, orgId: string, id: string): Promise<PendingChange | null> {
  const [row] = await tx<PendingChange[]>`
    delete from pending_changes
    where org_id = ${orgId}
      and id = ${id}
    returning ${columns(tx)}`
  return row ?? null
}

function columns(db: Db) {
  return db`id, kind, action, object_id, name, content, base_version, reason, created_at,
    json_build_object('type', 'user', 'id', author_id, 'name', author_name) as proposed_by`
}
