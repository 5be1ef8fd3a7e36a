import type { Db } from '../../platform/db/sql.ts'
import type { KnownRepository } from '../formats/checkout/checkout.ts'

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
