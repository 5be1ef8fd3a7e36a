import type { Db } from '../../platform/db/sql.ts'

const MATCHES_MAX = 100

type RepositoryAtHost = {
  /** The name without the host. */
  name: string
  /** The repository with this address, linked or as a token names it. */
  linked: { provider: string; id: string } | null
  /** The provider whose default host it is. */
  provider: string | null
}

/** Finds the numbers of a reported repository. */
export async function findRepositoryNos(db: Db, orgId: string, repository: RepositoryAtHost): Promise<number[]> {
  const rows = await db<{ id: number }[]>`${buildRepositoryNos(db, orgId, repository)}`
  return rows.map(({ id }) => id)
}

/**
 * Selects the numbers of a reported repository: by its provider's id, and by its name if the id was
 * not known.
 */
export function buildRepositoryNos(db: Db, orgId: string, { name, linked, provider }: RepositoryAtHost) {
  return db`
    select id
    from reported_repositories
    where org_id = ${orgId}
      and (
        (provider, provider_id) = (${linked?.provider ?? null}::text, ${linked?.id ?? null}::text)
        or (lower(name) = lower(${name}) and (
          provider is null
          or (provider = ${linked?.provider ?? provider}::text and (provider_id is null or ${linked === null}))
        ))
      )
    order by id
    limit ${MATCHES_MAX}`
}

/** Lists the names of reported repositories. */
export async function listReportedNames(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct name
    from reported_repositories
    where org_id = ${orgId}
    order by name
    limit ${limit}`
  return rows.map(({ name }) => name)
}

/**
 * Finds an upload's repository and the run whose artifact it is. Returns null if it was deleted.
 */
export async function findUploadSubject(db: Db, orgId: string, uploadId: string) {
  const [row] = await db<{ name: string; run_id: string | null }[]>`
    select repository.name, upload.run_id
    from security_uploads upload
    join reported_repositories repository
      on repository.org_id = upload.org_id and repository.id = upload.repository_no
    where upload.org_id = ${orgId}
      and upload.id = ${uploadId}`
  return row ?? null
}
