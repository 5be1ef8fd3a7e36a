import type { Clock } from '../clock.ts'
import type { Db } from '../db/sql.ts'
import type { Log } from '../log.ts'
import { deleteUnknownHost, listAllowedHosts, upsertAllowedHost } from './allowed-host.store.ts'
import type { GuardedFetch } from './guarded-fetch.ts'

type Needs = { sql: Db; clock: Clock; log: Log; outbound: GuardedFetch }

/**
 * Looks up the hosts that were in use when private addresses began to be refused: a private one is
 * allowed from now on, as far as the networks of its addresses, and a public one needs nothing. A
 * name that is not known now is looked up at the next start. Safe to run on several servers.
 */
export async function settleAllowedHosts({ sql, clock, log, outbound }: Needs): Promise<void> {
  const unknown = (await listAllowedHosts(sql)).filter(({ networks }) => networks === null)
  const found = unknown.map(async ({ origin }) => ({ origin, networks: await outbound.listMissingNetworks(origin) }))
  for (const { origin, networks } of await Promise.all(found)) {
    if (networks === null) log.warn({ origin }, 'The name of a host that was in use is unknown')
    else if (networks.length === 0) await deleteUnknownHost(sql, origin)
    else await upsertAllowedHost(sql, origin, networks, clock.now())
  }
}
