import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { KnownRepository } from '../formats/report/checkout.ts'

export type RepositoryIdentity = { name: string; provider: string | null; provider_id: string | null }

/**
 * The row of a repository as reports name it, made when it is new, locked until the transaction
 * ends. The lock is what makes counts per repository exact.
 */
export async function lockReportedRepository(tx: Tx, orgId: string, identity: RepositoryIdentity, at: Date) {
  const [row] = await tx<[{ id: number }]>`
    insert into reported_repositories as repository (org_id, name, provider, provider_id, created_at)
    values (${orgId}, ${identity.name}, ${identity.provider}, ${identity.provider_id}, ${at})
    on conflict (org_id, coalesce(provider, ''), coalesce(provider_id, 'name:' || lower(name))) do update
    set name = excluded.name
    returning id`
  return row.id
}

/** Gives what was reported for a repository of a provider its present name. */
export async function updateReportedName(
  db: Db,
  orgId: string,
  { provider, id, full_name }: { provider: string; id: string; full_name: string },
): Promise<void> {
  await db`
    update reported_repositories
    set name = ${full_name}
    where org_id = ${orgId}
      and provider = ${provider}
      and provider_id = ${id}
      and name <> ${full_name}`
}

export type ReportedRepository = RepositoryIdentity & { id: number }

/** All repositories as reports name them. */
export async function listReportedRepositories(db: Db, orgId: string): Promise<ReportedRepository[]> {
  return db<ReportedRepository[]>`
    select id, name, provider, provider_id
    from reported_repositories
    where org_id = ${orgId}
    order by id`
}

type RepositoryFilter = { name: string | null; provider: string | null; providerId: string | null }

const MATCHES_MAX = 1000

/** Lists the reported repositories that match a filter. */
export async function findReportedRepositories(db: Db, orgId: string, filter: RepositoryFilter) {
  const { name, provider, providerId } = filter
  return db<ReportedRepository[]>`
    select id, name, provider, provider_id
    from reported_repositories
    where org_id = ${orgId}
      ${name === null ? db`` : db`and lower(name) = lower(${name})`}
      ${provider === null ? db`` : db`and provider = ${provider}`}
      ${providerId === null ? db`` : db`and provider_id = ${providerId}`}
    order by id
    limit ${MATCHES_MAX}`
}

/**
 * The condition that a row's repository has this provider, as a look-up per row: `offset 0` keeps
 * the planner from joining all repositories of the provider first. `row` has org_id and
 * repository_no; `orgId` is the organization of all rows.
 */
export function buildProviderCondition(db: Db, orgId: string, row: ReturnType<Db>, provider: string | null) {
  if (provider === null) return db``
  return db`
    and exists (
      select from reported_repositories repository
      where repository.org_id = ${row}.org_id ${buildSpreadCondition(db, 'repository', orgId)}
        and repository.id = ${row}.repository_no
        and repository.provider = ${provider}
      offset 0
    )`
}

/** The name of a repository as `owner/name`. Null if it does not exist. */
export async function findReportedName(db: Db, orgId: string, repositoryNo: number): Promise<string | null> {
  const [row] = await db<{ name: string }[]>`
    select name
    from reported_repositories
    where org_id = ${orgId}
      and id = ${repositoryNo}`
  return row?.name ?? null
}

/** SQL: the repositories as reports and alerts name them. */
export function buildReportedRepositories(db: Db, orgId: string) {
  return db`
    select name, provider, provider_id, created_at
    from reported_repositories
    where org_id = ${orgId}`
}

const PATHS_MAX = 5000
/** Paths are looked up in the newest findings of a repository only. */
const FINDINGS_MAX = 50_000

/** The name of a repository and the paths of its findings, those of open findings first. */
export async function requireKnownRepository(db: Db, orgId: string, repositoryNo: number): Promise<KnownRepository> {
  const [known] = await db<[KnownRepository?]>`
    select repository.name, array(
      select path
      from (
        select path, state
        from findings
        where org_id = ${orgId}
          and repository_no = ${repositoryNo}
        order by id desc
        limit ${FINDINGS_MAX}
      ) newest
      where path is not null
        and path !~* '^(/|[a-z]:/)'
      group by path
      order by bool_or(state = 'open') desc
      limit ${PATHS_MAX}
    ) as paths
    from reported_repositories repository
    where repository.org_id = ${orgId}
      and repository.id = ${repositoryNo}`
  return known ?? { name: null, paths: [] }
}
