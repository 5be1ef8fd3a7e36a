import type { Static } from 'typebox'
import { buildTimedIdsCondition } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { Issue } from './issue.schema.ts'
import { buildPageByFacet, type IssueSelection } from './issue-facet.store.ts'
import { buildIssueJson } from './issue-json.store.ts'
import { buildPageByName } from './issue-name.store.ts'

/**
 * Lists a page of issues, plus one row if there is a next page. Only these are rendered as JSON.
 */
export async function listIssues(db: Db, orgId: string, page: Page, selection: IssueSelection): Promise<PageRow[]> {
  const isNamed = selection.vulnIds !== null || selection.buckets !== null
  const pick = isNamed ? buildPageByName : isByAgeAlone(selection) ? pickByAge : buildPageByFacet
  return db<PageRow[]>`
    select picked.created_at, picked.id, picked.sort_value, ${buildIssueJson(db, orgId)} as json
    from (${pick(db, orgId, page, selection)}) picked
    cross join lateral (
      select issue.*
      from security_issues issue
      where issue.org_id = ${orgId}
        and issue.id = picked.id
      offset 0
    ) issue
    order by picked.sort_value desc, picked.id desc`
}

/**
 * An issue as JSON, listed or not. Null if it does not exist, was created before `since`, or has no
 * findings because it was merged.
 */
export async function findIssueJson(db: Db, orgId: string, id: string, since: Date): Promise<string | null> {
  const [row] = await db<{ json: string | null }[]>`
    select ${buildIssueJson(db, orgId)} as json
    from security_issues issue
    where issue.org_id = ${orgId}
      and issue.id = ${id}
      and issue.created_at >= ${since}`
  return row?.json ?? null
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
      and ${buildTimedIdsCondition(db, page, db`issue`)}
      ${buildProviderCondition(db, orgId, db`issue`, provider)}
    order by issue.id desc
    limit ${page.limit + 1}`
}

/** Reads the JSON of these issues, in this order. */
export async function listIssuesById(db: Db, orgId: string, ids: readonly string[]): Promise<Static<typeof Issue>[]> {
  const rows = await db<{ json: string }[]>`
    select ${buildIssueJson(db, orgId)} as json
    from unnest(${ids}::uuid[]) with ordinality wanted (id, position)
    join security_issues issue on issue.org_id = ${orgId} and issue.id = wanted.id
    order by wanted.position`
  return rows.map(({ json }) => JSON.parse(json) as Static<typeof Issue>)
}
