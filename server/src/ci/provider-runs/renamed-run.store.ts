import type { Db } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-key.ts'

const RENAMED_AT_ONCE = 1000

/**
 * Gives the code host's runs of a repository its present name and owner, in the order of their ids
 * after `after`. Returns the last id; null when there are no more runs.
 */
export async function updateRunNames(db: Db, repository: RepositoryKey, after: string): Promise<string | null> {
  const { org_id, provider, repository_id } = repository
  const [row] = await db<{ last: string | null }[]>`
    with batch as (
      select run_id
      from provider_runs
      where org_id = ${org_id}
        and provider = ${provider}
        and repository_id = ${repository_id}
        and run_id > ${after}
      order by run_id
      limit ${RENAMED_AT_ONCE}
    ), present as (
      select host || '/' || full_name as address, owner_id
      from repositories
      where org_id = ${org_id}
        and provider = ${provider}
        and id = ${repository_id}
    ), renamed as (
      update ci_runs run
      set repository = present.address
      from batch, present
      where run.org_id = ${org_id}
        and run.id = batch.run_id
        and run.repository <> present.address
    ), transferred as (
      update provider_runs run
      set repository_owner_id = present.owner_id
      from batch, present
      where run.org_id = ${org_id}
        and run.run_id = batch.run_id
        and run.repository_owner_id <> present.owner_id
    )
    select max(run_id) as last
    from batch`
  return row?.last ?? null
}
