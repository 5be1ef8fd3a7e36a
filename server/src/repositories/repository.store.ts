import type { Db } from '../platform/db/sql.ts'
import type { Provider } from './repository-identity.ts'

export type Repository = {
  provider: Provider
  id: string
  host: string
  full_name: string
  tracked_branch: string
  created_at: Date
}

/** Null keeps the stored value; a new repository gets the default. */
export type RepositoryLink = Pick<Repository, 'provider' | 'id' | 'full_name'> & {
  host: string | null
  tracked_branch: string | null
}

type LinkDefaults = Pick<Repository, 'host' | 'tracked_branch' | 'created_at'>

const REPOSITORIES_LISTED_MAX = 10_000

/** Inserts or updates a repository. Providers keep the id when a repository is renamed. */
export async function upsertRepository(db: Db, orgId: string, link: RepositoryLink, defaults: LinkDefaults) {
  const [row] = await db<[Repository]>`
    insert into repositories as repository (org_id, provider, id, host, full_name, tracked_branch, created_at)
    values (
      ${orgId}, ${link.provider}, ${link.id}, ${link.host ?? defaults.host}, ${link.full_name},
      ${link.tracked_branch ?? defaults.tracked_branch}, ${defaults.created_at}
    )
    on conflict (org_id, provider, id) do update
    set host = coalesce(${link.host}, repository.host),
      full_name = excluded.full_name,
      tracked_branch = coalesce(${link.tracked_branch}, repository.tracked_branch)
    returning provider, id, host, full_name, tracked_branch, created_at`
  return row
}

export async function listRepositories(db: Db, orgId: string): Promise<Repository[]> {
  return db<Repository[]>`
    select provider, id, host, full_name, tracked_branch, created_at
    from repositories
    where org_id = ${orgId}
    order by lower(full_name), provider, id
    limit ${REPOSITORIES_LISTED_MAX}`
}
