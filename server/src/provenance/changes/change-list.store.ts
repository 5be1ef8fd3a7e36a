import { buildPageCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildChangeJson, buildListedChangeJson } from './change-json.store.ts'
import { DEVIATIONS, type Deviation } from './change-record.ts'

/** Which changes a list contains. Null: all of them. */
export type ChangeSelection = {
  repositories: { provider: string; id: string }[] | null
  branch: string | null
  deviation: Deviation | null
  /** A commit that landed with the change. */
  commit: string | null
}

const CHANGES_OF_COMMIT_MAX = 1000

/**
 * Returns one page of changes, newest first, and one more row when there is a next page. Retention
 * removes the records of the oldest changes, so that a page without some of them is the last one.
 */
export async function listChanges(db: Db, orgId: string, page: Page, selection: ChangeSelection): Promise<PageRow[]> {
  const pick = selection.commit === null ? pickByTime : pickByCommit
  return db<PageRow[]>`
    select picked.created_at, picked.id, item.json
    from (${pick(db, orgId, page, selection)}) picked
    cross join lateral (
      select ${buildListedChangeJson(db, orgId, db`change`)} as json
      from changes change
      where change.org_id = ${orgId}
        and change.id = picked.id
      offset 0
    ) item
    where item.json is not null
    order by picked.created_at desc, picked.id desc`
}

/**
 * Picks the newest changes of each repository and each number that has the deviation: every index
 * has the time as its next column.
 */
function pickByTime(db: Db, orgId: string, page: Page, { repositories, branch, deviation }: ChangeSelection) {
  const isByFacet = repositories !== null || deviation !== null
  const ofRepository = db`
    repository_key(change.org_id, change.provider, change.repository_id)
      = repository_key(${orgId}, repository.provider, repository.id) ${buildSpreadCondition(db, 'change', orgId)}`
  return db`
    select found.created_at, found.id
    from ${repositories === null ? db`(select) as all_repositories` : buildRepositories(db, repositories)}
    cross join ${isByFacet ? buildFacets(db, deviation) : db`(select) as all_facets`}
    cross join lateral (
      select change.created_at, change.id
      from changes change
      where ${repositories === null ? db`change.org_id = ${orgId}` : ofRepository}
        ${branch === null ? db`` : db`and change.branch = ${branch}`}
        ${isByFacet ? db`and change.facet = facet.no` : db``}
        ${deviation === null ? db`` : db`and change.facet > 0`}
        and ${buildPageCondition(db, page, db`change`)}
      order by change.created_at desc, change.id desc
      limit ${page.limit + 1}
    ) found
    order by found.created_at desc, found.id desc
    limit ${page.limit + 1}`
}

/** A commit lands with few changes, so that they are looked up one by one. */
function pickByCommit(db: Db, orgId: string, page: Page, { commit, ...filters }: ChangeSelection) {
  const { repositories, branch, deviation } = filters
  return db`
    select change.created_at, change.id
    from (
      select change_id
      from change_commits
      where org_id = ${orgId}
        and sha = ${commit}
      order by change_id desc
      limit ${CHANGES_OF_COMMIT_MAX}
    ) listed
    cross join lateral (
      select change.*
      from changes change
      where change.org_id = ${orgId}
        and change.id = listed.change_id
      offset 0
    ) change
    where ${buildPageCondition(db, page, db`change`)}
      ${repositories === null ? db`` : db`and (change.provider, change.repository_id) in (select provider, id from ${buildRepositories(db, repositories)})`}
      ${branch === null ? db`` : db`and change.branch = ${branch}`}
      ${deviation === null ? db`` : db`and ${deviation} = any(change.deviations)`}
    order by change.created_at desc, change.id desc
    limit ${page.limit + 1}`
}

function buildRepositories(db: Db, repositories: { provider: string; id: string }[]) {
  const providers = repositories.map(({ provider }) => provider)
  const ids = repositories.map(({ id }) => id)
  return db`unnest(${providers}::text[], ${ids}::text[]) as repository (provider, id)`
}

/** The numbers of `deviation_facet` that have a deviation, or all of them. */
function buildFacets(db: Db, deviation: Deviation | null) {
  const all = Array.from({ length: 1 << DEVIATIONS.length }, (_, facet) => facet)
  const facets = deviation === null ? all : all.filter((facet) => facet & (1 << DEVIATIONS.indexOf(deviation)))
  return db`unnest(${facets}::smallint[]) as facet (no)`
}

/** Returns the change as JSON text, or null if there is none that landed at or after `since`. */
export async function findChangeJson(db: Db, orgId: string, id: string, since: Date): Promise<string | null> {
  const [row] = await db<{ json: string | null }[]>`
    select ${buildChangeJson(db, orgId, db`change`)} as json
    from changes change
    where change.org_id = ${orgId}
      and change.id = ${id}
      and change.created_at >= ${since}`
  return row?.json ?? null
}
