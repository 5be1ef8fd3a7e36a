import type { Db, Tx } from '../../platform/db/sql.ts'
import type { PolicyFileName } from '../policies/policy.store.ts'

/** A repository whose policy files are read. */
export type PolicySource = { org_id: string; provider: string; repository_id: string }

type Pushed = { commit_sha: string; pushed_at: Date }

/**
 * Remembers the newest commit of the tracked branch. Returns false if a newer one is known, or the
 * same one.
 */
export async function upsertPush(tx: Tx, source: PolicySource, { commit_sha, pushed_at }: Pushed): Promise<boolean> {
  const noted = await tx`
    insert into repository_policy_sources as source (org_id, provider, repository_id, commit_sha, pushed_at)
    values (${source.org_id}, ${source.provider}, ${source.repository_id}, ${commit_sha}, ${pushed_at})
    on conflict (org_id, provider, repository_id) do update
    set commit_sha = excluded.commit_sha, pushed_at = excluded.pushed_at
    where (source.pushed_at, source.commit_sha) < (excluded.pushed_at, excluded.commit_sha)`
  return noted.count === 1
}

/** The commit to read the policy files of; null if no push is known. */
export async function findPolicyCommit(db: Db, { org_id, provider, repository_id }: PolicySource) {
  const [row] = await db<{ commit_sha: string }[]>`
    select commit_sha
    from repository_policy_sources
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}`
  return row?.commit_sha ?? null
}

/**
 * Locks the source until the transaction ends. Returns false if another commit is to be read by
 * now.
 */
export async function lockSource(tx: Tx, { org_id, provider, repository_id }: PolicySource, commitSha: string) {
  const rows = await tx`
    select
    from repository_policy_sources
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and commit_sha = ${commitSha}
    for update`
  return rows.length === 1
}

/** Records that a commit's files were read. `mistakes` names the files that could not be used. */
export async function updateSourceRead(
  tx: Tx,
  { org_id, provider, repository_id }: PolicySource,
  { commitSha, mistakes }: { commitSha: string; mistakes: { path: string; message: string }[] },
  now: Date,
): Promise<void> {
  await tx`
    update repository_policy_sources
    set read_commit_sha = ${commitSha}, read_at = ${now}, mistakes = ${tx.json(mistakes)}
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}`
}

/** The current policy files of a repository: the version that each was read from. */
export async function listPolicyFiles(db: Db, { org_id, provider, repository_id }: PolicySource) {
  return db<(PolicyFileName & { id: string })[]>`
    select id, provider, repository_id, path, blob
    from policies
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and removed_at is null
    order by path
    limit 1000`
}
