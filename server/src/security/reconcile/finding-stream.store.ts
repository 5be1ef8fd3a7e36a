import type { Tx } from '../../platform/db/sql.ts'
import type { ReportFormat } from '../formats/report/parsed-report.ts'
import type { FindingOrigin } from '../vocabulary/finding.ts'

/** The facts of a report that its streams store. */
export type StreamReport = {
  org_id: string
  repository_no: number
  category: string | null
  git_ref: string | null
  commit_sha: string | null
  tracked: boolean
  source: ReportFormat
  origin: FindingOrigin
  reported_at: Date
}

/**
 * `rules_named` is the number of rules that a report is compared with. Null where it is unknown.
 */
export type Stream = { id: number; tool: string; tracked: boolean; reported_at: Date; rules_named: number | null }

/**
 * Creates the streams of these tools where they are missing, and locks them until the transaction
 * ends. They are locked in the order of their tools' names, so that two reports cannot deadlock.
 */
export async function lockStreams(tx: Tx, report: StreamReport, tools: readonly string[]): Promise<Stream[]> {
  const { org_id, repository_no, category, git_ref } = report
  await tx`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, source, origin, tracked, reported_at, seen_at
    )
    select ${org_id}, ${repository_no}, ${category}, ${git_ref}, tool, ${report.source}, ${report.origin},
      ${report.tracked}, '-infinity', '-infinity'
    from unnest(${tools}::text[]) tool
    order by tool
    on conflict do nothing`
  return tx<Stream[]>`
    select id, tool, tracked,
      case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at, rules_named
    from finding_streams
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and coalesce(category, '') = coalesce(${category}::text, '')
      and branch_name(git_ref) = branch_name(${git_ref})
      and tool = any(${tools})
    order by tool
    for update`
}

export type SeverityCounts = { critical: number; high: number; medium: number; low: number }

/** Counts the open findings of these streams. */
export async function countOpenBySeverity(tx: Tx, orgId: string, streamIds: number[]): Promise<SeverityCounts> {
  const [row] = await tx<[SeverityCounts]>`
    select count(*) filter (where severity = 'critical') as critical,
      count(*) filter (where severity = 'high') as high,
      count(*) filter (where severity = 'medium') as medium,
      count(*) filter (where severity = 'low') as low
    from findings
    where org_id = ${orgId}
      and stream_id = any(${streamIds})
      and state = 'open'`
  return row
}
