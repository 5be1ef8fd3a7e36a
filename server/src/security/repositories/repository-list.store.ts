import { buildRunNames } from '../../ci/pipeline-runs/pipeline-run.store.ts'
import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildPresentRepositories } from '../../repositories/repository.store.ts'
import { buildReportedRepositories } from './reported-repository.store.ts'

/**
 * One page of the repositories that are linked, or that security reports or runs name, newest
 * first, and one row more where there is a next page. A name without a code host is left out if a
 * linked repository has it. All names of the organization are compared, which takes one look-up per
 * repository.
 */
export async function listKnownRepositories(
  db: Db,
  orgId: string,
  page: Page,
  search: string | undefined,
): Promise<PageRow[]> {
  return db<PageRow[]>`
    with linked as (
      ${buildPresentRepositories(db, orgId)}
    ), reported as (
      select name, provider, provider_id, created_at
      from (${buildReportedRepositories(db, orgId)}) reported
      where not exists (
        select from linked
        where linked.provider = reported.provider
          and linked.id = reported.provider_id
      )
        and (provider_id is not null or lower(name) not in (select lower(full_name) from linked))
    ), known as (
      select concat(provider, ' ', id) collate "C" as id, full_name, provider, id as repository_id, tracked_branch, connected,
        private, archived, html_url, created_at
      from linked
      union all
      select concat(provider, ' ', provider_id, ' ', lower(name)) collate "C", name, provider, provider_id, null, false, null, null,
        null, created_at
      from reported
      union all
      select concat(' ', run.full_name) collate "C", run.full_name, null, null, null, false, null, null, null, run.created_at
      from (${buildRunNames(db, orgId)}) run
      where lower(run.full_name) not in (select lower(full_name) from linked)
        and lower(run.full_name) not in (select lower(name) from reported)
    )
    select known.created_at, known.id,
      (
        select row_to_json(item)::text
        from (
          select known.full_name, known.provider, known.repository_id, known.tracked_branch, known.connected,
            known.private, known.archived, known.html_url, rfc3339(known.created_at) as created_at
        ) item
      ) as json
    from known
    where ${buildPageCondition(db, page, db`known`, db`true`)}
      ${search === undefined ? db`` : db`and strpos(lower(known.full_name), lower(${search})) > 0`}
    order by known.created_at desc, known.id desc
    limit ${page.limit + 1}`
}
