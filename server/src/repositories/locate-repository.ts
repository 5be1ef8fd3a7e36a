import type { Db } from '../platform/db/sql.ts'
import { findOnHost, type LinkedRepository } from './repository-lookup.store.ts'

export type LocatedRepository = {
  host: string | null
  /** Without the host. */
  name: string
  /** The connected provider's repository of that address. */
  linked: LinkedRepository | null
}

/** What is known of the repository at `host/owner/name`. Two parts are `owner/name`: what reports name without a host. */
export async function locateRepository(db: Db, orgId: string, address: string): Promise<LocatedRepository> {
  const slash = address.indexOf('/')
  if (!address.includes('/', slash + 1)) return { host: null, name: address, linked: null }
  const [host, name] = [address.slice(0, slash), address.slice(slash + 1)]
  return { host, name, linked: await findOnHost(db, orgId, host, name) }
}
