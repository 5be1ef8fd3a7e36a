import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { buildStreamKind } from '../writing/lane.store.ts'
import type { ResolvedRepository } from './select-repository.ts'

/**
 * Gives a repository that was stored by name its provider and id, now that they are known.
 * Everything that was stored under the name then belongs to it. If the repository already has a
 * row, both rows stay.
 */
export async function updateNamedRepository(tx: Tx, orgId: string, repository: ResolvedRepository): Promise<void> {
  const { name, provider, provider_id, kept_under } = repository
  if (kept_under.length === 0) return
  if (!(await lockKept(tx, orgId, repository))) return
  const [adopted] = await tx<[{ id: number }?]>`
    update reported_repositories
    set provider = ${provider}, provider_id = ${provider_id}, name = ${name}
    where org_id = ${orgId}
      and id = (
        select id
        from reported_repositories
        where ${isKept(tx, orgId, repository)}
        order by provider nulls last
        limit 1
      )
      and not exists (
        select from reported_repositories
        where org_id = ${orgId}
          and coalesce(provider, '') = coalesce(${provider}::text, '')
          and coalesce(provider_id, 'name:' || lower(name)) = coalesce(${provider_id}::text, 'name:' || lower(${name}))
      )
    returning id`
  if (adopted && repository.tracked_branch !== null) await nameRefs(tx, orgId, adopted.id, repository.tracked_branch)
}

/**
 * True if something is stored under the name. Then callers take turns by an advisory lock, so that
 * the next one sees the change. Row locks do not suffice, because they also wait for rows that no
 * longer match.
 */
async function lockKept(tx: Tx, orgId: string, repository: ResolvedRepository): Promise<boolean> {
  const kept = await tx`select from reported_repositories where ${isKept(tx, orgId, repository)} limit 1`
  if (kept.length === 0) return false
  await lockName(tx, `repository ${orgId} ${repository.name.toLowerCase()}`)
  return true
}

function isKept(tx: Tx, orgId: string, { name, kept_under }: ResolvedRepository) {
  return tx`
    org_id = ${orgId}
    and lower(name) = lower(${name})
    and provider_id is null
    and coalesce(provider, '') = any(${kept_under.map((provider) => provider ?? '')})`
}

/**
 * Names the tracked branch where the ref is empty. Streams and uploads that the named branch
 * already has stay, and so do matches of the inventory, because their documents keep the empty
 * ref.
 */
async function nameRefs(tx: Tx, orgId: string, repositoryNo: number, trackedBranch: string): Promise<void> {
  await tx`
    update finding_streams stream
    set git_ref = ${trackedBranch}
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and git_ref is null
      and origin <> 'inventory'
      and not exists (
        select from finding_streams named
        where named.org_id = ${orgId}
          and named.repository_no = ${repositoryNo}
          and branch_name(named.git_ref) = branch_name(${trackedBranch})
          and coalesce(named.category, '') = coalesce(stream.category, '')
          and coalesce(named.tool_family, ' ' || named.tool) = coalesce(stream.tool_family, ' ' || stream.tool)
          and named.format_family is not distinct from stream.format_family
          and named.subject is not distinct from stream.subject
          and ${buildStreamKind(tx, tx`named.origin`)} = ${buildStreamKind(tx, tx`stream.origin`)}
          and coalesce(named.lane, 'key') = coalesce(stream.lane, 'key')
      )`
  await tx`
    update security_uploads upload
    set git_ref = ${trackedBranch}
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and git_ref is null
      and not exists (
        select from security_uploads named
        where named.org_id = ${orgId}
          and named.repository_no = ${repositoryNo}
          and branch_name(named.git_ref) = branch_name(${trackedBranch})
          and coalesce(named.category, '') = coalesce(upload.category, '')
          and named.sha256 = upload.sha256
      )`
}
