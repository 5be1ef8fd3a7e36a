import { EXPIRED_CHANGES } from '../../ci/changes/host-change.store.ts'
import { defineExpiringRows, type Expiring } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'

/** What landed: a merged pull request or a direct push. */
export type NewLanding = RepositoryKey & {
  pull_request: number | null
  push_id: string | null
  branch: string
  head_sha: string
  merge_sha: string | null
  landed_at: Date
  noted_at: Date
  late: boolean
  due_at: Date
}

export type Landing = NewLanding & {
  id: number
  state: 'waiting' | 'recorded' | 'dropped'
  tries: number
  asked_at: Date | null
  change_id: string | null
}

/** Stores a landing, unless it is known. Returns whether it is new. */
export async function insertLanding(tx: Tx, landing: NewLanding): Promise<boolean> {
  const inserted = await tx`
    insert into landings (
      org_id, provider, repository_id, pull_request, push_id, branch, head_sha, merge_sha, landed_at, noted_at, late,
      due_at
    )
    values (
      ${landing.org_id}, ${landing.provider}, ${landing.repository_id}, ${landing.pull_request}, ${landing.push_id},
      ${landing.branch}, ${landing.head_sha}, ${landing.merge_sha}, ${landing.landed_at}, ${landing.noted_at},
      ${landing.late}, ${landing.due_at}
    )
    on conflict do nothing`
  return inserted.count === 1
}

/** Adds the commit on the branch to a landing that lacks it. Returns whether it did. */
export async function updateMergeCommit(tx: Tx, { merge_sha, due_at, ...landing }: NewLanding): Promise<boolean> {
  const updated = await tx`
    update landings
    set merge_sha = ${merge_sha}, due_at = ${due_at}
    where ${isIn(tx, landing)}
      and pull_request = ${landing.pull_request}
      and state = 'waiting'
      and merge_sha is null`
  return updated.count === 1
}

/** The waiting landings that are due: recent ones first, then those of an import, oldest first. */
export async function listDueLandings(
  db: Db,
  repository: RepositoryKey,
  { now, limit }: { now: Date; limit: number },
): Promise<Landing[]> {
  return db<Landing[]>`
    select ${columns(db)}
    from landings
    where ${isIn(db, repository)}
      and state = 'waiting'
      and due_at <= ${now}
    order by late, landed_at, id
    limit ${limit}`
}

/** When the next waiting landing of a repository is due; null if none waits. */
export async function findNextDue(db: Db, repository: RepositoryKey): Promise<Date | null> {
  const [row] = await db<[{ due_at: Date | null }]>`
    select min(due_at) as due_at
    from landings
    where ${isIn(db, repository)}
      and state = 'waiting'`
  return row.due_at
}

/** The repositories with waiting landings that are due. */
export async function listDueRepositories(db: Db, now: Date, limit: number): Promise<RepositoryKey[]> {
  return db<RepositoryKey[]>`
    select distinct org_id, provider, repository_id
    from landings
    where state = 'waiting'
      and due_at <= ${now}
    limit ${limit}`
}

/** Jobs that earlier versions have queued do not state the organization. */
type LandingId = { org_id?: string; id: number }

/** Locks a landing until the transaction ends. */
export async function lockLanding(tx: Tx, { org_id, id }: LandingId): Promise<Landing> {
  const [row] = await tx<[Landing]>`
    select ${columns(tx)}
    from landings
    where id = ${id}
      ${org_id === undefined ? tx`` : tx`and org_id = ${org_id}`}
    for update`
  return row
}

type Postponement = { due_at: Date; tries: number; asked_at: Date | null }

/** Has no effect if a fact has changed the due time since the landing was read. */
export async function updateLandingDue(
  db: Db,
  landing: Pick<Landing, 'org_id' | 'id' | 'due_at'>,
  { due_at, tries, asked_at }: Postponement,
): Promise<void> {
  await db`
    update landings
    set due_at = ${due_at}, tries = ${tries}, asked_at = ${asked_at}
    where org_id = ${landing.org_id}
      and id = ${landing.id}
      and due_at = ${landing.due_at}
      and state = 'waiting'`
}

/** Lets the landings of a repository wait while its host limits our requests. */
export async function updateImportDue(db: Db, repository: RepositoryKey, until: Date): Promise<void> {
  await db`
    update landings
    set due_at = ${until}
    where ${isIn(db, repository)}
      and state = 'waiting'
      and late
      and due_at < ${until}`
}

export async function updateLandingDropped(db: Db, { org_id, id }: Pick<Landing, 'org_id' | 'id'>): Promise<void> {
  await db`
    update landings
    set state = 'dropped'
    where org_id = ${org_id}
      and id = ${id}
      and state = 'waiting'`
}

export async function updateLandingRecorded(
  tx: Tx,
  { org_id, id }: Pick<Landing, 'org_id' | 'id'>,
  changeId: string,
): Promise<void> {
  await tx`
    update landings
    set state = 'recorded', change_id = ${changeId}
    where org_id = ${org_id}
      and id = ${id}`
}

/**
 * The landings that a fact concerns: of a pull request, or with a commit as its newest or merged
 * one.
 */
export type ConcernedBy = { pull_request: number } | { commit_sha: string }

const CONCERNED_MAX = 100

/** The landings that a new fact concerns, without those that were dropped. */
export async function listConcerned(db: Db, repository: RepositoryKey, fact: ConcernedBy): Promise<number[]> {
  const matches =
    'pull_request' in fact
      ? db`pull_request = ${fact.pull_request}`
      : db`(merge_sha = ${fact.commit_sha} or head_sha = ${fact.commit_sha})`
  const rows = await db<{ id: number }[]>`
    select id
    from landings
    where ${isIn(db, repository)}
      and state <> 'dropped'
      and ${matches}
    order by id
    limit ${CONCERNED_MAX}`
  return rows.map(({ id }) => id)
}

/** The landing of a pull request; null if it did not land on the tracked branch. */
export async function findLanding(db: Db, repository: RepositoryKey, pullRequest: number): Promise<Landing | null> {
  const [row] = await db<Landing[]>`
    select ${columns(db)}
    from landings
    where ${isIn(db, repository)}
      and pull_request = ${pullRequest}`
  return row ?? null
}

function columns(db: Db) {
  return db`
    id, org_id, provider, repository_id, pull_request, push_id, branch, head_sha, merge_sha, landed_at, noted_at, late,
    state, due_at, tries, asked_at, change_id`
}

function isIn(db: Db, { org_id, provider, repository_id }: RepositoryKey) {
  return db`org_id = ${org_id} and provider = ${provider} and repository_id = ${repository_id}`
}

/**
 * What code hosts have said about changes. It stays while the record of a landing from before the
 * same time is still to be written, which needs it.
 */
export const expiringFacts: readonly Expiring[] = EXPIRED_CHANGES.map((table) =>
  defineExpiringRows({
    ...table,
    isExpired: (db, expiry) => db`
      ${table.isExpired(db, expiry)}
      and not exists (
        select from landings landing
        where landing.org_id = item.org_id
          and landing.provider = item.provider
          and landing.repository_id = item.repository_id
          and landing.state = 'waiting'
          and landing.landed_at < ${expiry.before}
      )`,
  }),
)
