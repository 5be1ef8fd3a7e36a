import type { Db } from '../db/sql.ts'

/**
 * A private host that tenants may name. `networks` are those that its addresses were in, or null if
 * they are not known yet: then it is not allowed.
 */
export type AllowedHost = { origin: string; networks: string[] | null; found_at: Date }

const HOSTS_MAX = 10_000

export async function listAllowedHosts(db: Db): Promise<AllowedHost[]> {
  return db<AllowedHost[]>`
    select origin, networks, found_at
    from allowed_hosts
    order by origin
    limit ${HOSTS_MAX}`
}

export async function listStoredNetworks(db: Db, origin: string): Promise<string[]> {
  const [row] = await db<{ networks: string[] | null }[]>`
    select networks
    from allowed_hosts
    where origin = ${origin}`
  return row?.networks ?? []
}

/** Allows further networks for a host. */
export async function upsertAllowedHost(db: Db, origin: string, networks: readonly string[], now: Date): Promise<void> {
  await db`
    insert into allowed_hosts as host (origin, networks, found_at)
    values (${origin}, ${[...networks]}, ${now})
    on conflict (origin) do update
    set networks = array(select distinct network from unnest(host.networks || excluded.networks) network order by 1)`
}

/** Forgets a host that turned out to be public. */
export async function deleteUnknownHost(db: Db, origin: string): Promise<void> {
  await db`
    delete from allowed_hosts
    where origin = ${origin}
      and networks is null`
}
