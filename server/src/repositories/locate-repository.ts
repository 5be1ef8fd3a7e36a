import type { Db } from '../platform/db/sql.ts'
import { findOnHost, type LinkedRepository } from './repository-lookup.store.ts'

export type LocatedRepository = {
  host: string | null
  /** The name without the host. */
  name: string
  /** The linked repository with this address. */
  linked: LinkedRepository | null
}

/**
 * Finds the linked repository at `host/owner/name`. An address of two parts has no host, as in
 * reports.
 */
export async function locateRepository(db: Db, orgId: string, address: string): Promise<LocatedRepository> {
  const slash = address.indexOf('/')
  if (!address.includes('/', slash + 1)) return { host: null, name: address, linked: null }
  const [host, name] = [address.slice(0, slash), address.slice(slash + 1)]
  return { host, name, linked: await findOnHost(db, orgId, host, name) }
}
