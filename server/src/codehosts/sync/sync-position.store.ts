import type { Db, Tx } from '../../platform/db/sql.ts'
import type { SyncScope } from './sync.store.ts'

/** Names a list of a repository. */
type ListScope = SyncScope & { repository_id: string; list: string }

/** How far a list has been read. */
export type ListPosition = {
  /** The synchronization that read the first page. */
  read_in: number
  /** The version of the first page. */
  etag: string | null
  /** The page to continue with; null after the last one. */
  next: string | null
  /** Reading ends at items that were changed earlier; null: at the end of the list. */
  until: Date | null
  /** The host's time of the newest change on the first page. */
  newest_at: Date | null
}

export async function findPosition(db: Db, scope: ListScope): Promise<ListPosition | null> {
  const [row] = await db<ListPosition[]>`
    select read_in, etag, next, until, newest_at
    from codehost_sync_lists
    where org_id = ${scope.org_id}
      and connection_id = ${scope.connection_id}
      and repository_id = ${scope.repository_id}
      and list = ${scope.list}`
  return row ?? null
}

export async function upsertPosition(tx: Tx, scope: ListScope, position: ListPosition): Promise<void> {
  await tx`
    insert into codehost_sync_lists (
      org_id, connection_id, repository_id, list, read_in, etag, next, until, newest_at
    )
    values (
      ${scope.org_id}, ${scope.connection_id}, ${scope.repository_id}, ${scope.list}, ${position.read_in},
      ${position.etag}, ${position.next}, ${position.until}, ${position.newest_at}
    )
    on conflict (org_id, connection_id, repository_id, list) do update
    set read_in = excluded.read_in,
      etag = excluded.etag,
      next = excluded.next,
      until = excluded.until,
      newest_at = excluded.newest_at`
}
