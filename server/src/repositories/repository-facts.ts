/** What is known of a repository. Fields that only a code host knows are null for linked ones. */
export type RepositoryFacts = {
  host: string
  full_name: string
  tracked_branch: string
  owner_id: string | null
  html_url: string | null
  private: boolean | null
  archived: boolean | null
  deleted_at: Date | null
  host_updated_at: Date | null
}

/** Facts from a code host. `is_change`: the host states them because they have changed. */
export type ToldFacts = { facts: RepositoryFacts; is_change: boolean }

const COMPARED = ['host', 'full_name', 'tracked_branch', 'owner_id', 'html_url', 'private', 'archived'] as const

/**
 * Whether facts replace the known ones. The host's time decides. At the same time, a deletion is
 * later than everything else, and a stated change is later than a mention in another event. Without
 * a time, only a change replaces facts that have one. Links are always replaced.
 */
export function canReplaceFacts({ facts: told, is_change }: ToldFacts, known: RepositoryFacts): boolean {
  if (known.owner_id === null) return true
  const order = compareTimes(told.host_updated_at, known.host_updated_at)
  if (order !== 0) return order > 0 || (is_change && told.host_updated_at === null)
  const isDeletion = told.deleted_at !== null && known.deleted_at === null
  const isOlderThanDeletion = told.deleted_at === null && known.deleted_at !== null
  if (isDeletion || isOlderThanDeletion) return isDeletion
  return is_change && COMPARED.some((field) => told[field] !== known[field])
}

/**
 * The known facts with what was told. Events mention a repository with few fields and without a
 * time: then its tracked branch stays.
 */
export function mergeFacts({ facts: told, is_change }: ToldFacts, known: RepositoryFacts): RepositoryFacts {
  const isMention = !is_change && told.host_updated_at === null
  return {
    ...told,
    tracked_branch: isMention ? known.tracked_branch : told.tracked_branch,
    html_url: told.html_url ?? known.html_url,
    deleted_at: told.deleted_at && (known.deleted_at ?? told.deleted_at),
    host_updated_at: told.host_updated_at ?? known.host_updated_at,
  }
}

/** A missing time is older than every time. */
function compareTimes(a: Date | null, b: Date | null): number {
  return Math.sign((a?.getTime() ?? 0) - (b?.getTime() ?? 0))
}
