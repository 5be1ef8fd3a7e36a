import { pageOfTimedIds } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { findReportedRepositories } from '../repositories/reported-repository.store.ts'
import { type IssueSelection, ofProvider, pickByFacet } from './issue-facet.store.ts'
import { issueJson } from './issue-json.store.ts'

/**
 * Up to so many repositories of a provider are looked up one by one. With more, a scan soon fills a
 * page.
 */
const REPOSITORIES_PROBED_MAX = 100

/**
 * Lists a page of issues, plus one row if there is a next page. Only these rows are rendered as
 * JSON.
 */
export async function listIssues(db: Db, orgId: string, page: Page, requested: IssueSelection): Promise<PageRow[]> {
  const selection = await withRepositories(db, orgId, requested)
  const pick = isByAgeAlone(selection) ? pickByAge : pickByFacet
  return db<PageRow[]>`
    select picked.created_at, picked.id, picked.sort_value, ${issueJson(db)} as json
    from (${pick(db, orgId, page, selection)}) picked
    join security_issues issue on issue.org_id = ${orgId} and issue.id = picked.id
    order by picked.sort_value desc, picked.id desc`
}

/** Replaces the filter by provider with its repositories, if they are few. */
async function withRepositories(db: Db, orgId: string, selection: IssueSelection): Promise<IssueSelection> {
  const { provider } = selection
  if (provider === null) return selection
  const found = await findReportedRepositories(db, orgId, { name: null, provider, providerId: null })
  if (found.length > REPOSITORIES_PROBED_MAX) return selection
  return { ...selection, provider: null, repositoryNos: found.map(({ id }) => id) }
}

function isByAgeAlone({ sort, provider: _provider, ...filters }: IssueSelection): boolean {
  return sort === 'newest' && Object.values(filters).every((value) => value === null)
}

function pickByAge(db: Db, orgId: string, page: Page, { provider }: IssueSelection) {
  return db`
    select issue.created_at, issue.id, null::real as sort_value
    from security_issues issue
    where issue.org_id = ${orgId}
      and issue.listed
      and ${pageOfTimedIds(db, page, db`issue`)}
      ${ofProvider(db, provider)}
    order by issue.id desc
    limit ${page.limit + 1}`
}
