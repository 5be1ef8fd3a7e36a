import type { Db, Tx } from '../../platform/db/sql.ts'
import type { HostInstallation } from '../code-host.ts'

/** Names an installation at its code host. */
export type InstallationKey = { provider: string; host: string; id: string }

/** An installation as far as the host has described it. */
export type KnownInstallation = {
  account: HostInstallation['account'] | null
  repositories: 'all' | 'selected' | null
  suspended: boolean
  removed_at: Date | null
  host_updated_at: Date | null
}

/** Remembers that the host has named an installation. At most once a minute, notes the time. */
export async function upsertInstallation(db: Db, key: InstallationKey, at: Date): Promise<void> {
  await db`
    insert into codehost_installations as installation (provider, host, id, first_seen_at, last_event_at)
    values (${key.provider}, ${key.host}, ${key.id}, ${at}, ${at})
    on conflict (provider, host, id) do update
    set last_event_at = excluded.last_event_at
    where installation.last_event_at < excluded.last_event_at - interval '1 minute'`
}

export async function findInstallation(db: Db, key: InstallationKey): Promise<KnownInstallation | null> {
  const [row] = await db<KnownInstallation[]>`
    select ${installationColumns(db)}
    from codehost_installations
    where ${hasKey(db, key)}`
  return row ?? null
}

/** Locks an installation until the transaction ends. It has been noted before. */
export async function lockInstallation(tx: Tx, key: InstallationKey): Promise<KnownInstallation> {
  const [row] = await tx<[KnownInstallation]>`
    select ${installationColumns(tx)}
    from codehost_installations
    where ${hasKey(tx, key)}
    for update`
  return row
}

export async function updateInstallation(tx: Tx, key: InstallationKey, known: KnownInstallation): Promise<void> {
  await tx`
    update codehost_installations
    set account_id = ${known.account?.id ?? null},
      account_login = ${known.account?.login ?? null},
      account_type = ${known.account?.type ?? null},
      repositories = ${known.repositories},
      suspended = ${known.suspended},
      removed_at = ${known.removed_at},
      host_updated_at = ${known.host_updated_at}
    where ${hasKey(tx, key)}`
}

/** What the host said about single repositories of an installation. */
type Selection = {
  ids: readonly string[]
  selected: boolean
  host_at: Date | null
  /** Older than everything that is known: changes only repositories that were not named before. */
  is_first?: boolean
}

type InstallationName = { provider: string; host: string; installation_id: string }

/** Returns the ids whose selection was not already decided by a newer message of the host. */
export async function upsertSelection(
  tx: Tx,
  { provider, host, installation_id }: InstallationName,
  { ids, selected, host_at, is_first = false }: Selection,
  now: Date,
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ repository_id: string }[]>`
    insert into codehost_installation_repositories as known (
      provider, host, installation_id, repository_id, selected, host_at, told_at
    )
    select ${provider}, ${host}, ${installation_id}, repository_id, ${selected}, ${host_at}::timestamptz, ${now}
    from unnest(${[...new Set(ids)].sort()}::text[]) as repository_id
    on conflict (provider, host, installation_id, repository_id) do update
    set selected = excluded.selected,
      host_at = coalesce(excluded.host_at, known.host_at),
      told_at = excluded.told_at
    where not ${is_first}
      and coalesce(excluded.host_at >= known.host_at, true)
    returning repository_id`
  return rows.map(({ repository_id }) => repository_id)
}

/**
 * The host lists these repositories: removals from the selection before `listedAt` are out of date.
 */
export async function updateSelectionConfirmed(
  tx: Tx,
  { provider, host, installation_id }: InstallationName,
  ids: readonly string[],
  listedAt: Date,
): Promise<void> {
  await tx`
    update codehost_installation_repositories
    set selected = true,
      told_at = ${listedAt}
    where provider = ${provider}
      and host = ${host}
      and installation_id = ${installation_id}
      and repository_id = any(${[...ids]})
      and not selected
      and told_at < ${listedAt}`
}

/**
 * False if the host removed the repository from the installation. A repository that has changed
 * since then was selected again.
 */
export async function isSelected(
  tx: Tx,
  { provider, host, installation_id }: InstallationName,
  repositoryId: string,
  changedAt: Date | null,
): Promise<boolean> {
  const removals = await tx`
    select repository_id
    from codehost_installation_repositories
    where provider = ${provider}
      and host = ${host}
      and installation_id = ${installation_id}
      and repository_id = ${repositoryId}
      and not selected
      and coalesce(told_at >= ${changedAt}::timestamptz, true)`
  return removals.length === 0
}

function installationColumns(db: Db) {
  return db`
    case when account_id is not null then
      json_build_object('id', account_id, 'login', account_login, 'type', account_type)
    end as account,
    repositories, suspended, removed_at, host_updated_at`
}

function hasKey(db: Db, { provider, host, id }: InstallationKey) {
  return db`provider = ${provider} and host = ${host} and id = ${id}`
}
