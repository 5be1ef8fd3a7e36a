import type { Db, Tx } from '../../platform/db/sql.ts'

/**
 * How far the matches of an organization are. All scopes have to be matched if `is_due`. Changes of
 * packages up to the number `followed_until` were followed; those up to `batch_until` in the scopes
 * up to `scope_after`.
 */
export type MatchingProgress = {
  is_due: boolean
  followed_until: number
  batch_until: number | null
  scope_after: number
}

/** Null if the organization never had a document. */
export async function findMatchingProgress(db: Db, orgId: string): Promise<MatchingProgress | null> {
  const [row] = await db<MatchingProgress[]>`
    select is_due, followed_until, batch_until, scope_after
    from matching_progress
    where org_id = ${orgId}`
  return row ?? null
}

/** The first document of an organization is matched with all that is known. */
export async function insertMatchingProgress(tx: Tx, orgId: string): Promise<void> {
  await tx`
    insert into matching_progress (org_id, is_due, followed_until)
    select ${orgId}, false, coalesce(max(no), 0)
    from intel_package_changes
    on conflict do nothing`
}

/** Stores what another run has not stored meanwhile. Returns false if it has. */
export async function updateMatchingProgress(
  db: Db,
  orgId: string,
  before: MatchingProgress,
  after: Omit<MatchingProgress, 'is_due'>,
): Promise<boolean> {
  const rows = await db`
    update matching_progress
    set followed_until = ${after.followed_until}, batch_until = ${after.batch_until}, scope_after = ${after.scope_after}
    where org_id = ${orgId}
      and followed_until = ${before.followed_until}
      and batch_until is not distinct from ${before.batch_until}::bigint
      and scope_after = ${before.scope_after}`
  return rows.count === 1
}

/** States that all scopes have to be matched, or that they were. */
export async function updateMatchingDue(tx: Tx, orgId: string, isDue: boolean): Promise<void> {
  await tx`
    update matching_progress
    set is_due = ${isDue}, scope_after = 0
    where org_id = ${orgId}`
}

/** The organizations that have something to match. */
export async function listUnmatchedOrganizations(db: Db): Promise<string[]> {
  const rows = await db<{ org_id: string }[]>`
    select org_id
    from matching_progress
    where is_due
      or followed_until < (select coalesce(max(no), 0) from intel_package_changes)
    order by org_id`
  return rows.map(({ org_id }) => org_id)
}

/** How many changes of packages the organization has not followed yet. */
export async function countUnfollowedChanges(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from intel_package_changes
    where no > coalesce((select followed_until from matching_progress where org_id = ${orgId}), 0)`
  return row.count
}

const CHANGES_AT_ONCE = 5000

/** The last of the next changes after a number; null if there is none. */
export async function findNextBatch(db: Db, after: number): Promise<number | null> {
  const [row] = await db<[{ until: number | null }]>`
    select max(no) as until
    from (
      select no
      from intel_package_changes
      where no > ${after}
      order by no
      limit ${CHANGES_AT_ONCE}
    ) next`
  return row.until
}

/** The names of the packages that changed between two numbers. */
export async function listChangedNames(db: Db, { after, until }: { after: number; until: number }): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct package_key as name
    from intel_package_changes
    where no > ${after}
      and no <= ${until}`
  return rows.map(({ name }) => name)
}
