import type { HostSource } from '../../src/codehosts/host-event.ts'
import type { HostAccount, HostRepository } from '../../src/codehosts/host-repository.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import { newUuid } from '../../src/platform/ids.ts'

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
    owner: { id: '55', login: 'acme' },
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

/** Stores an active connection of an organization with one repository. */
export async function insertConnection(
  sql: Sql,
  orgId: string,
  repository: HostRepository = hostRepository(),
): Promise<HostSource> {
  const source = { org_id: orgId, connection_id: newUuid(AT), provider: repository.provider, host: repository.host }
  await sql`
    insert into codehost_connections ${sql({
      org_id: orgId,
      id: source.connection_id,
      provider: source.provider,
      host: source.host,
      installation_id: newUuid(AT),
      account_id: newUuid(AT),
      account_login: repository.owner.login,
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
      owner_id: repository.owner.id,
      html_url: repository.html_url,
      private: repository.private,
      archived: repository.archived,
      host_updated_at: repository.updated_at,
      created_at: AT,
    })}`
  return source
}
