import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { RepositoryKey } from './provider-run-jobs.ts'

/** A connected repository, as requests to its host need it; null if it is not known. */
export async function findHostRepository(db: Db, key: RepositoryKey): Promise<HostRepository | null> {
  const [row] = await db<HostRepository[]>`
    select provider, host, id, full_name,
      json_build_object('id', coalesce(owner_id, ''), 'login', split_part(full_name, '/', 1)) as owner,
      tracked_branch as default_branch, html_url, coalesce(private, true) as private,
      coalesce(archived, false) as archived, host_updated_at as updated_at
    from repositories
    where org_id = ${key.org_id}
      and provider = ${key.provider}
      and id = ${key.repository_id}`
  return row ?? null
}
