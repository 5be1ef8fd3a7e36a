import type { Db } from '../../platform/db/sql.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import type { RepositoryFacts } from '../../repositories/repository-facts.ts'
import type { Provider } from '../catalogue.ts'
import type { HostRepository } from '../host-repository.ts'

/** A known repository as requests to its host need it; null if it is not known. */
export async function findHostRepository(
  db: Db,
  orgId: string,
  provider: string,
  id: string,
): Promise<HostRepository | null> {
  const found = await findFollowed(db, { org_id: orgId, provider, id })
  return found && toHostRepository({ ...found, provider: provider as Provider, id })
}

type KnownRepository = Omit<RepositoryFacts, 'deleted_at'> & { provider: Provider; id: string }

export function toHostRepository(known: KnownRepository): HostRepository {
  const { provider, host, id, full_name, html_url } = known
  return {
    provider,
    host,
    id,
    full_name,
    html_url,
    owner_id: known.owner_id ?? '',
    default_branch: known.tracked_branch,
    private: known.private ?? true,
    archived: known.archived ?? false,
    updated_at: known.host_updated_at,
  }
}
