import type { Db } from '../../platform/db/sql.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import type { HostRepository } from '../host-repository.ts'

/** A known repository as requests to its host need it; null if it is not known. */
export async function findHostRepository(
  db: Db,
  orgId: string,
  provider: string,
  id: string,
): Promise<HostRepository | null> {
  const found = await findFollowed(db, { org_id: orgId, provider, id })
  if (found === null) return null
  return {
    provider: provider as Provider,
    host: found.host,
    id,
    full_name: found.full_name,
    owner: { id: found.owner_id ?? '', login: found.full_name.slice(0, found.full_name.lastIndexOf('/')) },
    default_branch: found.tracked_branch,
    html_url: found.html_url,
    private: found.private ?? true,
    archived: found.archived ?? false,
    updated_at: found.host_updated_at,
  }
}
