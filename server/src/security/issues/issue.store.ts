import type { Static } from 'typebox'
import {
  defineExpiringWithParts,
  deleteBy,
  type Expiring,
  type ExpiringWithId,
} from '../../platform/db/expiring-rows.ts'
import { buildTimedIdsCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { buildEndedDismissal, buildFindingDismissal } from '../findings/finding.store.ts'
import { buildIntel } from '../intel/intel.store.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import { isOfRepositories, lockIdleRepositories } from '../writing/grouping.store.ts'
import { buildRankedSeverity, buildSeverityRank } from '../writing/issue-writing.store.ts'
import type { Issue } from './issue.schema.ts'
import { buildIsOpenSince, buildPageByFacet, buildPageByName, type IssueSelection } from './issue-page.store.ts'

/**
 * Lists a page of issues, plus one row if there is a next page. Only these are rendered as JSON.
 */
export function listIssues(db: Db, orgId: string, page: Page, selection: IssueSelection) {
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
 * An issue as JSON, listed or not. Null if it does not exist, was fixed before `since`, or has no
 * findings because it was merged.
 */
export async function findIssueJson(db: Db, orgId: string, id: string, since: Date): Promise<string | null> {
  const [row] = await db<{ json: string | null }[]>`
    select ${buildIssueJson(db, orgId)} as json
    from security_issues issue
    where issue.org_id = ${orgId}
      and issue.id = ${id}
      and (issue.created_at >= ${since} or ${buildIsOpenSince(db, since)})`
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
      and ${buildTimedIdsCondition(db, page, db`issue`, buildIsOpenSince(db, page.since))}
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

/** The JSON of an issue. Its title, location and package are those of its worst open finding. */
function buildIssueJson(db: Db, orgId: string) {
  return db`(
    select row_to_json(item)::text
    from (
      select issue.id, members.member_count = 1 as synthetic, issue.kind, lead.type, lead.title, lead.description,
        ${buildRankedSeverity(db, db`issue.severity`)} as severity, issue.status,
        repository.name as repository, repository.provider, repository.provider_id as repository_id,
        lead.package_name, lead.package_version, lead.purl, issue.vuln_ids, members.cwes,
        case
          when lead.path is not null
          then json_build_object('path', lead.path, 'start_line', lead.start_line, 'end_line', lead.end_line)
        end as location,
        lead.resource_name, rfc3339(members.first_seen_at) as first_seen_at,
        rfc3339(members.last_seen_at) as last_seen_at, members.sources, members.member_count, members.source_count,
        members.open_member_count, issue.split_from, dismissal.dismiss_reason, dismissal.dismiss_comment,
        dismissal.dismissed_by_name, rfc3339(dismissal.dismissed_at) as dismissed_at, dismissal.dismissal_source,
        rfc3339(dismissal.dismissal_expires_at) as dismissal_expires_at,
        ended.dismissal as dismissal_ended, rfc3339(issue.updated_at) as updated_at, ${buildIntel(db, db`vulnerability`)} as intel
      from reported_repositories repository
      cross join lateral ${buildMembers(db, orgId)} members
      cross join lateral ${buildLead(db, orgId)} lead
      cross join lateral ${buildVulnerability(db, orgId)} vulnerability
      left join lateral ${buildDismissal(db, orgId)} dismissal on issue.status = 'dismissed'
      left join lateral ${buildLastEnded(db, orgId)} ended on issue.status = 'open'
      where repository.org_id = issue.org_id ${buildSpreadCondition(db, 'repository', orgId)}
        and repository.id = issue.repository_no
    ) item
  )`
}

/** Counts and lists over all findings. A source is a scanner in one report format. */
function buildMembers(db: Db, orgId: string) {
  return db`(
    select sum(count)::int as member_count, count(*)::int as source_count, sum(open)::int as open_member_count,
      min(first_seen_at) as first_seen_at, max(last_seen_at) as last_seen_at,
      json_agg(json_build_object('source', source, 'scanner', scanner, 'count', count, 'open', open)
        order by source, scanner) as sources,
      (
        select coalesce(array_agg(distinct cwe order by cwe), '{}')
        from findings finding
        cross join unnest(finding.cwes) cwe
        where finding.org_id = issue.org_id ${buildSpreadCondition(db, 'finding', orgId)}
          and finding.issue_id = issue.id
      ) as cwes
    from (
      select stream.source, stream.tool as scanner, count(*),
        count(*) filter (where ${isOpen(db)}) as open,
        min(finding.first_seen_at) as first_seen_at,
        max(coalesce(finding.last_seen_at, stream.seen_at)) as last_seen_at
      from ${memberRows(db, orgId)}
      group by stream.source, stream.tool
    ) by_source
  )`
}

/** A finding on another branch than the tracked one does not open the issue. */
function isOpen(db: Db) {
  return db`(finding.state = 'open' and stream.tracked)`
}

/**
 * The finding that represents the issue: the worst open one; if several are equal, the first seen.
 */
function buildLead(db: Db, orgId: string) {
  return db`(
    select finding.type, finding.title, finding.description, finding.package_name, finding.package_version, finding.purl,
      finding.path, finding.start_line, finding.end_line, finding.resource_name
    from ${memberRows(db, orgId)}
    order by ${isOpen(db)} desc, stream.tracked desc, ${buildSeverityRank(db, db`finding.severity`)} desc,
      finding.first_seen_at, finding.id
    limit 1
  )`
}

/**
 * The vulnerability as the findings describe it: the first fixed version and the newest CVSS
 * rating.
 */
function buildVulnerability(db: Db, orgId: string) {
  return db`(
    select issue.vuln_ids, lead.package_name, lead.package_version, lead.purl, fix.fixed_version, cvss.cvss_version,
      cvss.cvss_score, cvss.cvss_vector
    from (values (0)) issue_itself
    left join lateral (
      select finding.fixed_version
      from ${memberRows(db, orgId)}
      where finding.fixed_version is not null
      order by finding.id
      limit 1
    ) fix on true
    left join lateral (
      select finding.cvss_version, finding.cvss_score, finding.cvss_vector
      from ${memberRows(db, orgId)}
      where finding.cvss_vector is not null
        or finding.cvss_score is not null
      order by finding.cvss_version desc nulls last, finding.cvss_score desc nulls last, finding.id
      limit 1
    ) cvss on true
  )`
}

/** The last dismissal of a finding. */
function buildDismissal(db: Db, orgId: string) {
  return db`(
    select dismissal.*
    from ${memberRows(db, orgId)}
    cross join lateral ${buildFindingDismissal(db, orgId)} dismissal
    where finding.state = 'dismissed'
    order by dismissal.dismissed_at desc, finding.id
    limit 1
  )`
}

/** The dismissal of an open finding that ended last because the finding changed. */
function buildLastEnded(db: Db, orgId: string) {
  return db`(
    select ended.dismissal
    from ${memberRows(db, orgId)}
    cross join lateral ${buildEndedDismissal(db, orgId)} ended
    where ${isOpen(db)}
    order by ended.ended_at desc, finding.id
    limit 1
  )`
}

function memberRows(db: Db, orgId: string) {
  return db`
    findings finding
    join finding_streams stream
      on stream.org_id = finding.org_id
      and stream.id = finding.stream_id
      and finding.org_id = issue.org_id
      and finding.issue_id = issue.id
      ${buildSpreadCondition(db, 'finding', orgId)} ${buildSpreadCondition(db, 'stream', orgId)}`
}

/**
 * Issues of which no finding is left: they are closed, or were merged into another one. Their ids
 * begin with the time of their creation, and ids are sorted.
 */
const EXPIRED: ExpiringWithId = {
  kind: 'issues',
  table: 'security_issues',
  order: 'id',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and item.updated_at < ${before}
    and not exists (
      select from findings finding
      where finding.org_id = item.org_id
        and finding.issue_id = item.id
    )`,
}

const issues = defineExpiringWithParts(EXPIRED, (tx, orgId, ids) =>
  deleteBy(tx, { tables: ['issue_history'], column: 'issue_id' }, orgId, ids),
)

export const expiringIssues: Expiring = {
  ...issues,
  async remove(tx, batch) {
    const condition = isOfRepositories(tx, await lockIdleRepositories(tx, EXPIRED, batch))
    return issues.remove(tx, { ...batch, condition })
  },
}
