import { buildAverageId, buildAverageIds } from '../../platform/db/spread.ts'
import { type NewIssues, updateTouchedIssues } from '../writing/issue-writing.store.ts'
import type { Written } from './finding-merge.store.ts'
import type { StreamReport } from './finding-stream.store.ts'
import type { After } from './incoming.store.ts'
import type { StreamUpdate } from './judge-streams.ts'
import type { Paired } from './paired.store.ts'

/** The streams name the report as their newest. */
export type Recorded = After<'record'> & { readonly paired: Paired }

/**
 * Records the report as the newest of its streams, unless it is a part that was sent before that
 * one. Streams that had ended go on.
 */
export async function updateReportedStreams(
  { paired }: Written,
  report: StreamReport,
  updates: readonly StreamUpdate[],
): Promise<Recorded> {
  const { tx, scope } = paired
  const isOlder: ReturnType<typeof tx> = tx`reported_at > ${report.reported_at}`
  await tx`
    update finding_streams stream
    set tool = updated.tool, tool_version = updated.tool_version, facts = updated.facts::jsonb,
      held = updated.held::jsonb, parts_since = updated.parts_since, reports = reports + (upload_id is distinct from ${report.upload_id}::text)::integer, source = ${report.source},
      origin = ${report.origin}, tracked = case when ${isOlder} then tracked else ${report.tracked} end,
      git_ref = ${report.git_ref},
      upload_id = case when ${isOlder} then upload_id else ${report.upload_id}::text end,
      commit_sha = case when ${isOlder} then commit_sha else ${report.commit_sha}::text end,
      reported_at = greatest(reported_at, ${report.reported_at}),
      seen_at = ${scope.at}, continues_id = null, ended_at = null, ended_reason = null, ended_by_name = null
    from unnest(
      ${updates.map(({ id }) => id)}::bigint[], ${updates.map(({ tool }) => tool)}::text[],
      ${updates.map(({ tool_version }) => tool_version)}::text[],
      ${updates.map(({ facts }) => facts && JSON.stringify(facts))}::text[],
      ${updates.map(({ held }) => held && JSON.stringify(held))}::text[],
      ${updates.map(({ parts_since }) => parts_since)}::timestamptz[]
    ) as updated (id, tool, tool_version, facts, held, parts_since)
    where stream.org_id = ${scope.org_id}
      and stream.id = updated.id`
  return { paired } as Recorded
}

/** Issues to refresh in addition to those of findings that the report does not contain. */
export type TouchedIssues = { issueIds: readonly string[]; streamIds: readonly number[] }

/**
 * Refreshes the issues that the report may have changed. Returns how many became visible and are
 * open.
 */
export async function updateReportedIssues(
  { paired: { tx, scope } }: Recorded,
  { issueIds, streamIds }: TouchedIssues,
): Promise<NewIssues> {
  const touched: ReturnType<typeof tx> = tx`
    select issue_id
    from unnest(${issueIds}::uuid[]) issue_id
    union
    select finding.issue_id
    from paired
    join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = paired.finding_id
    where paired.position is null
    union
    select issue_id
    from findings
    where org_id = ${buildAverageId(tx, scope.org_id)}
      and stream_id = any(${buildAverageIds(tx, streamIds)})`
  return updateTouchedIssues(tx, scope.org_id, touched, scope.at)
}
