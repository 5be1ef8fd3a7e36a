import type { Db, Tx } from '../../platform/db/sql.ts'
import type { FindingIdentity } from '../findings/finding.schema.ts'
import { buildIdentityJson } from '../findings/finding.store.ts'
import type { AliasAssertion } from '../intel/aliases.ts'
import type { FindingState, GroupingCode } from '../vocabulary/finding.ts'
import { listJoinedBuckets } from '../writing/edit.store.ts'
import { buildMemberColumns } from '../writing/grouping.store.ts'
import type { IssueChange } from './grouping/describe-groups.ts'
import type { Member } from './grouping/grouping-facts.ts'
import type { IssueExplanation } from './issue-explanation.schema.ts'
import { buildIsOpenSince } from './issue-page.store.ts'

type ExplainedIssue = Pick<IssueExplanation, 'status' | 'split_from' | 'merged_into'> & {
  id: string
  repository_no: number
  bucket: string
  has_edits: boolean
}

/** Finds an issue, listed or not, that was not fixed before `since`. */
export async function findIssue(db: Db, orgId: string, id: string, since: Date): Promise<ExplainedIssue | null> {
  const [issue] = await db<ExplainedIssue[]>`
    select issue.id, issue.repository_no, encode(issue.bucket, 'hex') as bucket, issue.status, issue.split_from,
      issue.merged_into, repository.has_edits
    from security_issues issue
    join reported_repositories repository on repository.org_id = issue.org_id and repository.id = issue.repository_no
    where issue.org_id = ${orgId}
      and issue.id = ${id}
      and (issue.created_at >= ${since} or ${buildIsOpenSince(db, since)})`
  return issue ?? null
}

/** A stored finding with the scanner and report that it comes from. */
export type Evidence = Member & {
  id: string
  issue_id: string
  grouping_code: GroupingCode
  state: FindingState
  scanner: string
  source: string
  category: string | null
  git_ref: string | null
  grouped_at: string
  identity: FindingIdentity
}

/** The first rows, and how many there are in total. */
type Counted<Row> = { rows: Row[]; count: number }

const FINDINGS_READ_MAX = 1000

/** Reads an issue's findings, oldest first. */
export function listOwnFindings(tx: Tx, orgId: string, { id }: ExplainedIssue) {
  const which: ReturnType<Tx> = tx`issue.id = ${id}`
  return readFindings(tx, orgId, which, tx`finding.id`)
}

const SPANS_COMPARED_MAX = 20

/**
 * Reads the findings of other issues in the same buckets: the nearest to the issue's findings
 * first,
 * in lines of the same file, then oldest first.
 */
export async function listOtherFindings(tx: Tx, orgId: string, issue: ExplainedIssue, own: readonly Evidence[]) {
  const repository = { org_id: orgId, repository_no: issue.repository_no }
  const buckets = issue.has_edits ? await listJoinedBuckets(tx, repository, [issue.bucket]) : [issue.bucket]
  const which: ReturnType<Tx> = tx`
    issue.repository_no = ${issue.repository_no}
    and issue.bucket in (select decode(hex, 'hex') from unnest(${buckets}::text[]) hex)
    and issue.merged_into is null
    and issue.id <> ${issue.id}`
  return readFindings(tx, orgId, which, tx`${linesFrom(tx, own)}, finding.id`)
}

/** The number of lines from the first of these findings; null in other files and without lines. */
function linesFrom(tx: Tx, own: readonly Evidence[]) {
  const spans = own.filter(({ path, start_line: from }) => path !== null && from !== null).slice(0, SPANS_COMPARED_MAX)
  return tx`(
    select min(greatest(0, finding.start_line - span.to_line,
      span.from_line - coalesce(finding.end_line, finding.start_line)))
    from unnest(
      ${spans.map(({ path }) => path)}::text[], ${spans.map(({ start_line: from }) => from)}::integer[],
      ${spans.map(({ start_line: from, end_line: to }) => to ?? from)}::integer[]
    ) as span (path, from_line, to_line)
    where span.path = finding.path
  )`
}

async function readFindings(
  tx: Tx,
  orgId: string,
  which: ReturnType<Tx>,
  order: ReturnType<Tx>,
): Promise<Counted<Evidence>> {
  const from = tx`
    from security_issues issue
    join findings finding on finding.org_id = issue.org_id and finding.issue_id = issue.id
    where issue.org_id = ${orgId}
      and ${which}`
  const [total] = await tx<[{ count: number }]>`select count(*) as count ${from}`
  const rows = await tx<Evidence[]>`
    select ${buildMemberColumns(tx)}, finding.state, stream.tool as scanner, stream.source, stream.category, stream.git_ref,
      rfc3339(finding.grouped_at) as grouped_at, ${buildIdentityJson(tx)} as identity
    from (select finding.org_id, finding.id ${from} order by ${order} limit ${FINDINGS_READ_MAX}) picked
    join findings finding on finding.org_id = picked.org_id and finding.id = picked.id
    join security_issues issue on issue.org_id = finding.org_id and issue.id = finding.issue_id
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
    order by finding.id`
  return { rows, count: total.count }
}

const ASSERTIONS_MAX = 10_000

/** Reads the assertions about the aliases of these canonical ids. */
export async function listGroupAssertions(db: Db, canonicalIds: readonly string[]): Promise<AliasAssertion[]> {
  return db<AliasAssertion[]>`
    select assertion.source, assertion.id, assertion.alias
    from vulnerability_aliases member
    join vulnerability_assertions assertion on assertion.id = member.id
    where member.canonical_id = any(${canonicalIds}::text[])
    order by assertion.id, assertion.alias, assertion.source
    limit ${ASSERTIONS_MAX}`
}

const EVENTS_MAX = 100

/** Reads the merges and splits that concern an issue, newest first. */
export async function listHistory(db: Db, orgId: string, issueId: string): Promise<(IssueChange & { at: string })[]> {
  return db<(IssueChange & { at: string })[]>`
    select event, issue_id, other_issue_id, detail, rfc3339(at) as at
    from issue_history
    where org_id = ${orgId}
      and (issue_id = ${issueId} or other_issue_id = ${issueId})
    order by id desc
    limit ${EVENTS_MAX}`
}
