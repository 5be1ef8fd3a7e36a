import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'
import { buildTimedIdsCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildTriageAuthor } from '../writing/triage.store.ts'
import type { TriageQuery } from './triage.schema.ts'

type TriageFilter = Pick<TriageQuery, 'action' | 'source' | 'status' | 'finding_id' | 'issue_id'>

/** Lists a page of triages, newest first, plus one row if there is a next page. */
export function listTriages(db: Db, orgId: string, page: Page, filter: TriageFilter) {
  const { action, source, status, finding_id, issue_id } = filter
  return db<PageRow[]>`
    select triage.created_at, triage.id, ${triageJson(db, orgId)} as json
    from triages triage
    where triage.org_id = ${orgId}
      and ${buildTimedIdsCondition(db, page, db`triage`, db`coalesce(triage.ended_at, 'infinity') >= ${page.since}`)}
      ${action === undefined ? db`` : db`and triage.action = ${action}`}
      ${source === undefined ? db`` : db`and triage.source = ${source}`}
      ${status === undefined ? db`` : db`and coalesce(triage.ended_as, 'active') = ${status}`}
      ${finding_id === undefined ? db`` : db`and triage.id in (${triagesOfFinding(db, orgId, finding_id)})`}
      ${issue_id === undefined ? db`` : db`and triage.id in (${triagesOfIssue(db, orgId, issue_id)})`}
    order by triage.id desc
    limit ${page.limit + 1}`
}

/** Finds a triage. Returns JSON text, or null. */
export async function findTriageJson(db: Db, orgId: string, id: string): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${triageJson(db, orgId)} as json
    from triages triage
    where triage.org_id = ${orgId}
      and triage.id = ${id}`
  return row?.json ?? null
}

function triagesOfFinding(db: Db, orgId: string, findingId: string) {
  return db`
    select triage_id
    from triage_findings
    where org_id = ${orgId}
      and finding_id = ${findingId}
    union
    select part.triage_id
    from alert_findings link
    join triage_alerts part on part.org_id = link.org_id and part.alert_id = link.alert_id
    where link.org_id = ${orgId}
      and link.finding_id = ${findingId}`
}

/** Also those that name the issue and affect no finding: a split or a merge. */
function triagesOfIssue(db: Db, orgId: string, issueId: string) {
  const members: ReturnType<Db> = db`
    select id
    from findings
    where org_id = ${orgId}
      and issue_id = ${issueId}`
  return db`
    select triage_id
    from triage_findings
    where org_id = ${orgId}
      and finding_id in (${members})
    union
    select part.triage_id
    from alert_findings link
    join triage_alerts part on part.org_id = link.org_id and part.alert_id = link.alert_id
    where link.org_id = ${orgId}
      and link.finding_id in (${members})
    union
    select id
    from triages
    where org_id = ${orgId}
      and target_ids @> array[${issueId}]::text[]`
}

function triageJson(db: Db, orgId: string) {
  return db`(
    select row_to_json(item)::text
    from (
      select triage.id, triage.action, triage.source, triage.target_type, triage.target_ids,
        ${buildTargetTitles(db)} as target_titles, triage.scope,
        (
          select count(*)
          from triage_findings part
          where part.org_id = triage.org_id ${buildSpreadCondition(db, 'part', orgId)}
            and part.triage_id = triage.id
            and part.ended_at is null
        ) as finding_count,
        (
          select count(*)
          from triage_alerts part
          where part.org_id = triage.org_id ${buildSpreadCondition(db, 'part', orgId)}
            and part.triage_id = triage.id
        ) as alert_count,
        triage.reason, triage.comment, rfc3339(triage.expires_at) as expires_at,
        rfc3339(triage.created_at) as created_at, triage.created_by_id,
        ${buildTriageAuthor(db)} as created_by_name,
        coalesce(triage.ended_as, 'active') as status, rfc3339(triage.ended_at) as ended_at, triage.ended_by_name
    ) item
  )`
}

const TITLES_MAX = 5

/** The titles of the first targets of a row `triage`. An issue has that of one of its findings. */
function buildTargetTitles(db: Db) {
  return db`array(
    select case triage.target_type
      when 'alert' then (
        select left(alert.title, 300)
        from security_alerts alert
        where alert.org_id = triage.org_id
          and alert.id = target.id
      )
      when 'issue' then (
        select left(finding.title, 300)
        from findings finding
        where finding.org_id = triage.org_id
          and finding.issue_id = target.id::uuid
        order by finding.id
        limit 1
      )
      else (
        select left(finding.title, 300)
        from findings finding
        where finding.org_id = triage.org_id
          and finding.id = target.id::uuid
      )
    end
    from unnest(triage.target_ids[1:${TITLES_MAX}]) with ordinality target (id, position)
    order by target.position
  )`
}

/** Triages that have ended, or all of whose findings and alerts have expired. */
export const expiringTriages = defineExpiringRows({
  kind: 'triages',
  table: 'triages',
  key: ['id'],
  order: 'id',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and (item.ended_at is null or item.ended_at < ${before})
    and not exists (
      select from triage_findings part
      where part.org_id = item.org_id
        and part.triage_id = item.id
    )
    and not exists (
      select from triage_alerts part
      where part.org_id = item.org_id
        and part.triage_id = item.id
    )
    and not exists (
      select from issue_edits edit
      where edit.org_id = item.org_id
        and edit.triage_id = item.id
    )`,
})
