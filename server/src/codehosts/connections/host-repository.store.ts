import type { Db } from '../../platform/db/sql.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import type { HostRepository } from '../host-repository.ts'

/** Finds a repository as its code host last described it, for requests to the host. */
export async function findHostRepository(
  db: Db,
  orgId: string,
  provider: string,
  id: string,
): Promise<HostRepository | null> {
  const [row] = await db<
    (Omit<HostRepository, 'owner' | 'provider'> & { provider: Provider; owner_id: string | null })[]
  >`
    select provider, host, id, full_name, owner_id, tracked_branch as default_branch, html_url,
      coalesce(private, true) as private, coalesce(archived, false) as archived, host_updated_at as updated_at
    from repositories
    where org_id = ${orgId}
      and provider = ${provider}
      and id = ${id}`
  if (row === undefined) return null
  const { owner_id, ...repository } = row
  return { ...repository, owner: { id: owner_id ?? '', login: repository.full_name.split('/')[0] ?? '' } }
}
