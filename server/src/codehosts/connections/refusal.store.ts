import type { Db, Tx } from '../../platform/db/sql.ts'
import type { HostRefusal } from '../code-host.ts'

/** A list that the host does not let us read, as it is shown. */
export type ListedRefusal = {
  /** Null: the list of the account's repositories. */
  repository: string | null
  list: string
  /** The status of the host's answer. */
  status: number
  message: string
  /** When the host refused the list for the first time since it was last read. */
  since: string
}

/** The list of the repositories themselves, which belongs to none of them. */
export const REPOSITORIES_LIST = { id: '', list: 'repositories' } as const

/** The statuses with which hosts say that something may not be read, or is not there. */
const REFUSED: readonly number[] = [402, 403, 404, 410, 451]

/** Whether an error says that the host does not let us read a list, now and later. */
export function isRefused({ status }: HostRefusal): boolean {
  return REFUSED.includes(status)
}

const MESSAGE_CHARS_MAX = 500
/** A page of repositories, with all their lists. */
const LISTED_MAX = 20_000

type RefusalScope = { org_id: string; connection_id: string }

/** Whose lists are refused. `full_name` is null for the list of repositories. */
type RefusedRepository = RefusalScope & { id: string; full_name: string | null }

/**
 * Stores which lists of a repository its host refuses. Lists that it refused before and lets us
 * read now are forgotten.
 */
export async function upsertRefusals(
  tx: Tx,
  { org_id, connection_id, id, full_name }: RefusedRepository,
  refusals: ReadonlyMap<string, HostRefusal>,
  now: Date,
): Promise<void> {
  const rows = [...refusals].map(([list, { status, message }]) => ({
    list,
    status,
    // PostgreSQL stores no U+0000, which a host can send.
    message: message.replaceAll(/\p{Cc}/gu, '?').slice(0, MESSAGE_CHARS_MAX),
  }))
  await tx`
    delete from codehost_refusals
    where org_id = ${org_id}
      and connection_id = ${connection_id}
      and repository_id = ${id}
      and list <> all(${[...refusals.keys()]}::text[])`
  if (rows.length === 0) return
  await tx`
    insert into codehost_refusals (org_id, connection_id, repository_id, repository, list, status, message, since)
    select ${org_id}::uuid, ${connection_id}::uuid, ${id}::text, ${full_name}::text, list, status, message, ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as refused (list text, status int, message text)
    order by list
    on conflict (org_id, connection_id, repository_id, list) do update
    set repository = excluded.repository,
      status = excluded.status,
      message = excluded.message`
}

/** Forgets what the host refuses of repositories that a synchronization did not find any more. */
export async function deleteOtherRefusals(tx: Tx, { org_id, connection_id }: RefusalScope, number: number) {
  await tx`
    delete from codehost_refusals refusal
    where refusal.org_id = ${org_id}
      and refusal.connection_id = ${connection_id}
      and refusal.repository_id <> ''
      and not exists (
        select
        from codehost_sync_repositories read
        where read.org_id = refusal.org_id
          and read.connection_id = refusal.connection_id
          and read.repository_id = refusal.repository_id
          and read.read_in = ${number}
      )`
}

/**
 * What the host says of the first repository of a connection of which it refuses all of these
 * lists, or of the list of repositories; null if there is none.
 */
export async function findRefusedRepository(
  db: Db,
  { org_id, connection_id }: RefusalScope,
  lists: readonly string[],
): Promise<string | null> {
  const [row] = await db<{ message: string }[]>`
    select concat_ws(': ', min(repository), min(message)) as message
    from codehost_refusals
    where org_id = ${org_id}
      and connection_id = ${connection_id}
      and (repository_id = '' or list = any(${[...lists]}::text[]))
    group by repository_id
    having repository_id = '' or count(*) = ${lists.length}
    order by repository_id
    limit 1`
  return row?.message ?? null
}

const SHOWN_MAX = 100

/**
 * SQL: the lists that the host of a connection refuses, at most 100, as JSON, and how many they
 * are. `alias` names a row of `codehost_connections`.
 */
export function buildRefusals(db: Db, alias: string) {
  const connection = db(alias)
  const isShown = db`
    refusal.org_id = ${connection}.org_id
      and refusal.connection_id = ${connection}.id
      and ${connection}.status <> 'removed'`
  return db`
    (
      select coalesce(json_agg(shown), '[]')
      from (
        select refusal.repository, refusal.list, refusal.status, refusal.message, rfc3339(refusal.since) as since
        from codehost_refusals refusal
        where ${isShown}
        order by refusal.repository nulls first, refusal.list
        limit ${SHOWN_MAX}
      ) shown
    ) as refusals,
    (
      select count(*)::int
      from codehost_refusals refusal
      where ${isShown}
    ) as refusals_total`
}

/** The refused lists of some repositories of a connected account, by provider and id. */
export async function listRefusals(
  db: Db,
  orgId: string,
  repositoryIds: readonly string[],
): Promise<(ListedRefusal & { provider: string; repository_id: string })[]> {
  return db`
    select connection.provider, refusal.repository_id, refusal.repository, refusal.list, refusal.status, refusal.message,
      rfc3339(refusal.since) as since
    from codehost_refusals refusal
    join codehost_connections connection on connection.org_id = refusal.org_id and connection.id = refusal.connection_id
    where refusal.org_id = ${orgId}
      and refusal.repository_id = any(${[...repositoryIds]})
      and connection.status <> 'removed'
    order by refusal.repository_id, refusal.list
    limit ${LISTED_MAX}`
}
