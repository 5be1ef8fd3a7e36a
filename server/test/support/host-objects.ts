import type {
  HostChangeCommit,
  HostPullRequest,
  HostPush,
  HostPushedCommit,
  HostReview,
} from '../../src/codehosts/host-change.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import type { HostAccount, HostRepository } from '../../src/codehosts/host-repository.ts'
import type { HostCheck, HostRun } from '../../src/codehosts/host-run.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import { createUuid } from '../../src/platform/ids.ts'

const AT = new Date('2026-03-01T10:00:00.000Z')

export function hostAccount(fields: Partial<HostAccount> = {}): HostAccount {
  const login = fields.login ?? 'ada'
  const url = `https://github.com/${login}`
  return { id: '7', login, name: null, avatar_url: `${url}.png`, url, is_bot: false, ...fields }
}

export function hostRepository(fields: Partial<HostRepository> = {}): HostRepository {
  return {
    provider: 'github',
    host: 'github.com',
    id: '1001',
    full_name: 'acme/shop',
    owner_id: '55',
    default_branch: 'main',
    html_url: 'https://github.com/acme/shop',
    private: true,
    archived: false,
    updated_at: AT,
    ...fields,
  }
}

export function hostRun(fields: Partial<HostRun> = {}): HostRun {
  return {
    repository: hostRepository(),
    id: '9001',
    number: 12,
    attempt: 1,
    workflow: { id: '31', name: 'CI', path: '.github/workflows/ci.yml' },
    status: 'in_progress',
    ref: 'refs/heads/main',
    head_repository_id: '1001',
    commit: { sha: 'a'.repeat(40), message: 'Fix the cart' },
    event: 'push',
    kind: 'push',
    release_name: null,
    actor: hostAccount(),
    triggering_actor: hostAccount(),
    pull_requests: [],
    html_url: 'https://github.com/acme/shop/actions/runs/9001',
    created_at: AT,
    started_at: AT,
    completed_at: null,
    updated_at: AT,
    ...fields,
  }
}

/** A pull request that was merged ten minutes after it was opened. */
export function hostPullRequest(fields: Partial<HostPullRequest> = {}): HostPullRequest {
  const mergedAt = new Date(AT.getTime() + 600_000)
  return {
    repository: hostRepository(),
    number: 7,
    title: 'Fix the cart',
    url: 'https://github.com/acme/shop/pull/7',
    author: hostAccount(),
    state: 'merged',
    draft: false,
    head: { ref: 'cart', sha: 'b'.repeat(40), repository_id: '1001' },
    base: { ref: 'main', sha: 'e'.repeat(40) },
    merge_commit_sha: 'c'.repeat(40),
    merged_by: hostAccount({ id: '8', login: 'grace' }),
    merged_by_queue: false,
    created_at: AT,
    merged_at: mergedAt,
    closed_at: mergedAt,
    updated_at: mergedAt,
    ...fields,
  }
}

/** An approval of `hostPullRequest`. */
export function hostReview(fields: Partial<HostReview> = {}): HostReview {
  return {
    repository: hostRepository(),
    pull_request: 7,
    id: '1',
    reviewer: hostAccount({ id: '8', login: 'grace' }),
    state: 'approved',
    commit_sha: 'b'.repeat(40),
    submitted_at: new Date(AT.getTime() + 300_000),
    ...fields,
  }
}

/** A successful check of the commit that `hostPullRequest` landed with. */
export function hostCheck(fields: Partial<HostCheck> = {}): HostCheck {
  return {
    repository: hostRepository(),
    commit_sha: 'c'.repeat(40),
    id: '71',
    name: 'test',
    source: 'github-actions',
    status: 'success',
    url: null,
    started_at: new Date(AT.getTime() + 660_000),
    completed_at: new Date(AT.getTime() + 720_000),
    ...fields,
  }
}

/** A push of one commit to the tracked branch. */
export function hostPush(fields: Partial<HostPush> = {}): HostPush {
  const after = fields.after ?? 'c'.repeat(40)
  return {
    repository: hostRepository(),
    ref: 'refs/heads/main',
    before: 'e'.repeat(40),
    after,
    forced: false,
    pusher: hostAccount(),
    by_merge_queue: false,
    commits: pushedCommits(after),
    pushed_at: new Date(AT.getTime() + 600_000),
    ...fields,
  }
}

/** Commits as the event of a push lists them. */
export function pushedCommits(...shas: string[]): HostPushedCommit[] {
  const person = { name: 'Ada', email: 'ada@example.com', login: 'ada' }
  return shas.map((sha) => ({ sha, message: `Commit ${sha.slice(0, 7)}`, author: person, committer: person, at: AT }))
}

export function hostChangeCommit(sha: string, fields: Partial<HostChangeCommit> = {}): HostChangeCommit {
  const person = { name: 'Ada', email: 'ada@example.com', id: '7', login: 'ada' }
  const signature = { verified: true, reason: 'valid' }
  return { sha, message: `Commit ${sha.slice(0, 7)}`, author: person, committer: person, signature, ...fields }
}

/** Stores an active connection of an organization with one repository. */
export async function insertConnection(
  sql: Sql,
  orgId: string,
  repository: HostRepository = hostRepository(),
): Promise<HostSource> {
  const source = { org_id: orgId, connection_id: createUuid(AT), provider: repository.provider, host: repository.host }
  await sql`
    insert into codehost_connections ${sql({
      org_id: orgId,
      id: source.connection_id,
      provider: source.provider,
      host: source.host,
      installation_id: createUuid(AT),
      account_id: createUuid(AT),
      account_login: repository.full_name.split('/', 1)[0] ?? '',
      account_type: 'Organization',
      status: 'active',
      repositories: 'all',
      connected_at: AT,
    })}`
  await sql`
    insert into repositories ${sql({
      org_id: orgId,
      provider: repository.provider,
      id: repository.id,
      host: repository.host,
      full_name: repository.full_name,
      tracked_branch: repository.default_branch,
      connection_id: source.connection_id,
      owner_id: repository.owner_id,
      html_url: repository.html_url,
      private: repository.private,
      archived: repository.archived,
      host_updated_at: repository.updated_at,
      created_at: AT,
    })}`
  return source
}
