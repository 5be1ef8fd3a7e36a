import { pageOf } from '../platform/db/page.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Page, PageRow } from '../platform/http/lists.ts'
import type { ResultStatus } from './result.schema.ts'

/** One page of compliance results, newest first, and one row more where there is a next page. */
export async function listResults(
  db: Db,
  orgId: string,
  page: Page,
  filter: { status?: ResultStatus | undefined },
): Promise<PageRow[]> {
  const withStatus = filter.status === undefined ? db`` : db`and result.status = ${filter.status}`
  return db<PageRow[]>`
    select result.created_at, result.id, ${resultJson(db)} as json
    from compliance_results result
    where result.org_id = ${orgId}
      and ${pageOf(db, page, db`result`)}
      ${withStatus}
    order by result.created_at desc, result.id desc
    limit ${page.limit + 1}`
}

function resultJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select result.id, result.org_id, result.policy_id, result.policy_name, result.status, result.details,
        result.repository, rfc3339(result.evaluated_at) as evaluated_at, rfc3339(result.created_at) as created_at,
        rfc3339(result.updated_at) as updated_at
    ) item
  )`
}
