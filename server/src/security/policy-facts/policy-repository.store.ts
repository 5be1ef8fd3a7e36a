import type { Db } from '../../platform/db/sql.ts'

const MATCHES_MAX = 100

export type RepositoryAtHost = {
  /** Without the host. */
  name: string
  /** The provider's repository that is connected under that address. */
  linked: { provider: string; id: string } | null
  /** Whose usual host it is. */
  provider: string | null
}

/** The numbers of a repository in reports: under its provider's id, and what was kept under its name before that was known. */
export async function findRepositoryNos(db: Db, orgId: string, { name, linked, provider }: RepositoryAtHost) {
  const rows = await db<{ id: number }[]>`
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
  return rows.map(({ id }) => id)
}

/** The names of the repositories in reports. */
export async function listReportedNames(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct name
    from reported_repositories
    where org_id = ${orgId}
    order by name
    limit ${limit}`
  return rows.map(({ name }) => name)
}

/** The name of the repository that an upload is about, and the run whose artifact it is; null where it is gone. */
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
