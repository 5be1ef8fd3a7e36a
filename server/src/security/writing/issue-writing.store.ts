import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildThreats } from '../intel/intel.store.ts'
import type { DescribedGroup, IssueChange } from '../issues/grouping/describe-groups.ts'
import { SEVERITIES, type Severity, toSeverityRank } from '../vocabulary/severity.ts'
import type { Grouped } from './grouping.store.ts'

/**
 * Inserts the new issues of `grouped_issues`, and updates those whose members changed. Most reports
 * have issues of one kind only, and a statement for the other kind would still read many rows.
 */
export async function upsertIssues(grouped: Grouped, written: readonly DescribedGroup[]): Promise<void> {
  if (written.some(({ issue }) => issue.is_new)) await insertIssues(grouped)
  if (written.some(({ issue }) => !issue.is_new)) await updateIssues(grouped)
}

/** Rows in the order of their ids are faster to insert. */
async function insertIssues({ tx, scope }: Grouped): Promise<void> {
  const { org_id: orgId, repository_no: repositoryNo, at } = scope
  await tx`
    insert into security_issues (
      org_id, id, repository_no, bucket, kind, severity, status, listed, vuln_ids, canonical_id, kev, epss, split_from,
      created_at, updated_at
    )
    select ${orgId}, id, ${repositoryNo}, bucket, kind, severity, status, listed, vuln_ids, canonical_id,
      coalesce(known.kev, false), coalesce(known.epss, 0), split_from, ${at}, ${at}
    from grouped_issues
    left join ${threatsOfGrouped(tx, orgId)} known on known.issue_id = id
    where is_new
    order by id`
}

async function updateIssues({ tx, scope }: Grouped): Promise<void> {
  const { org_id: orgId, at } = scope
  await tx`
    update security_issues issue
    set bucket = grouped.bucket, kind = grouped.kind, vuln_ids = grouped.vuln_ids, canonical_id = grouped.canonical_id,
      kev = coalesce(known.kev, false), epss = coalesce(known.epss, 0), merged_into = null,
      split_from = coalesce(grouped.split_from, issue.split_from), updated_at = ${at}
    from grouped_issues grouped
    left join ${threatsOfGrouped(tx, orgId)} known on known.issue_id = grouped.id
    where not grouped.is_new
      and issue.org_id = ${buildAverageId(tx, orgId)}
      and issue.id = grouped.id`
}

function threatsOfGrouped(tx: Tx, orgId: string) {
  return buildThreats(tx, tx`select ${orgId}::uuid as org_id, id as issue_id, vuln_ids from grouped_issues`)
}

/** Marks issues that have lost all findings as merged into others. */
export async function updateDissolvedIssues(
  tx: Tx,
  orgId: string,
  dissolved: readonly { id: string; into: string }[],
  at: Date,
): Promise<void> {
  if (dissolved.length === 0) return
  await tx`
    update security_issues issue
    set merged_into = gone.into_id, listed = false, updated_at = ${at}
    from unnest(${dissolved.map(({ id }) => id)}::uuid[], ${dissolved.map(({ into }) => into)}::uuid[])
      as gone (id, into_id)
    where issue.org_id = ${buildAverageId(tx, orgId)}
      and issue.id = gone.id`
}

/** Records that issues were merged or split. */
export async function insertHistory(db: Db, orgId: string, changes: readonly IssueChange[], at: Date): Promise<void> {
  if (changes.length === 0) return
  await db`
    insert into issue_history (org_id, issue_id, at, event, other_issue_id, detail)
    select ${orgId}, issue_id, ${at}, event, other_issue_id, detail
    from unnest(
      ${changes.map((change) => change.issue_id)}::uuid[], ${changes.map(({ event }) => event)}::text[],
      ${changes.map((change) => change.other_issue_id)}::uuid[], ${changes.map(({ detail }) => detail)}::text[]
    ) as change (issue_id, event, other_issue_id, detail)`
}

export type NewIssues = { open: number; critical: number; high: number }

/** Counts the listed issues among these that are open. */
export async function countOpenIssues(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<NewIssues> {
  const [row] = await tx<[NewIssues]>`
    select count(*)::int as open, (count(*) filter (where severity = ${toSeverityRank('critical')}))::int as critical,
      (count(*) filter (where severity = ${toSeverityRank('high')}))::int as high
    from security_issues
    where org_id = ${orgId}
      and id = any(${[...issueIds]}::uuid[])
      and status = 'open'
      and listed`
  return row
}

/**
 * Updates severity, status and listing of issues after their findings were written. Returns how
 * many issues are listed as open and were not before, also those that are open again.
 */
export async function updateRefreshedIssues(
  tx: Tx,
  orgId: string,
  issueIds: readonly string[],
  at: Date,
): Promise<NewIssues> {
  return updateTouchedIssues(tx, orgId, tx`select distinct issue_id from unnest(${issueIds}::uuid[]) issue_id`, at)
}

/** `updateRefreshedIssues` for the issues that a query returns as `issue_id`. */
export async function updateTouchedIssues(
  tx: Tx,
  orgId: string,
  touched: ReturnType<Tx>,
  at: Date,
): Promise<NewIssues> {
  const rank = buildSeverityRank(tx, tx`finding.severity`)
  const [row] = await tx<[NewIssues]>`
    with touched as (${touched}),
    counted as (
      select finding.issue_id,
        max(${rank}) filter (where finding.state = 'open' and stream.tracked) as worst_open,
        max(${rank}) as worst,
        bool_or(finding.state = 'dismissed') as has_dismissed,
        bool_or(stream.tracked) as listed
      from touched
      join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.issue_id = touched.issue_id
      join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id
      group by finding.issue_id
    ),
    current as (
      select issue_id, coalesce(worst_open, worst) as severity, listed,
        case when worst_open is not null then 'open' when has_dismissed then 'dismissed' else 'fixed' end as status
      from counted
    ),
    refreshed as (
      update security_issues issue
      set severity = current.severity, status = current.status, listed = current.listed, updated_at = ${at}
      from current
      join security_issues before on before.org_id = ${buildAverageId(tx, orgId)} and before.id = current.issue_id
      where issue.org_id = ${buildAverageId(tx, orgId)}
        and issue.id = current.issue_id
        and (issue.severity, issue.status, issue.listed) is distinct from (current.severity, current.status, current.listed)
      returning issue.severity,
        issue.status = 'open' and issue.listed and not (before.status = 'open' and before.listed) as is_new
    )
    select count(*) as open, count(*) filter (where severity = ${toSeverityRank('critical')}) as critical,
      count(*) filter (where severity = ${toSeverityRank('high')}) as high
    from refreshed
    where is_new`
  return row
}

/** Issues of one repository whose `kev` or `epss` is outdated. */
export type StaleIssues = { org_id: string; repository_no: number; issue_ids: string[] }

const ISSUES_AT_ONCE = 10_000

/**
 * Reads all outdated issues of every organization, in parts for one transaction each. Changes of
 * KEV come first.
 */
export async function listStaleIssues(tx: Tx): Promise<AsyncIterable<StaleIssues[]>> {
  await tx`set local statement_timeout = 0`
  return tx<StaleIssues[]>`
    select org_id, repository_no, array_agg(issue_id) as issue_ids
    from (
      select org_id, repository_no, issue_id, is_kev_stale,
        row_number() over (partition by org_id, repository_no, is_kev_stale) / ${ISSUES_AT_ONCE} as part
      from ${staleIssues(tx, tx`true`)} stale
    ) stale
    group by org_id, repository_no, is_kev_stale, part
    order by is_kev_stale desc, org_id, repository_no, part`.cursor(1)
}

/** Updates `kev` and `epss` of these issues, if they are outdated. */
export async function updateThreats(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<void> {
  const these: ReturnType<Tx> = tx`issue.org_id = ${buildAverageId(tx, orgId)} and issue.id = any(${issueIds}::uuid[])`
  await tx`
    update security_issues issue
    set kev = stale.kev, epss = stale.epss
    from ${staleIssues(tx, these)} stale
    where issue.org_id = ${buildAverageId(tx, orgId)}
      and issue.id = stale.issue_id`
}

function staleIssues(db: Db, which: ReturnType<Db>) {
  const named: ReturnType<Db> = db`
    select issue.org_id, issue.id as issue_id, issue.vuln_ids
    from security_issues issue
    where issue.merged_into is null
      and issue.vuln_ids <> '{}'
      and ${which}`
  return db`(
    select known.org_id, issue.repository_no, known.issue_id, known.kev, coalesce(known.epss, 0) as epss,
      issue.kev <> known.kev as is_kev_stale
    from ${buildThreats(db, named)} known
    join security_issues issue on issue.org_id = known.org_id and issue.id = known.issue_id
    where (issue.kev, issue.epss) is distinct from (known.kev, coalesce(known.epss, 0))
  )`
}

/** `toSeverityRank` of an SQL expression. */
export function buildSeverityRank(db: Db, severity: ReturnType<Db>): ReturnType<Db> {
  return db`(${SEVERITIES.length} - array_position(${SEVERITIES}::text[], ${severity}))`
}

/** The severity that an SQL expression is the rank of. */
export function buildRankedSeverity(db: Db, rank: ReturnType<Db>): ReturnType<Db> {
  return db`(${SEVERITIES}::text[])[${SEVERITIES.length} - ${rank}]`
}

/** Counts rows by severity, as a JSON object with every severity. `rank` is an SQL expression. */
export function buildSeverityCounts(db: Db, rank: ReturnType<Db>): ReturnType<Db> {
  const count = (severity: Severity): ReturnType<Db> =>
    db`${severity}::text, count(*) filter (where ${rank} = ${toSeverityRank(severity)})`
  const [first, ...others] = SEVERITIES
  return db`json_build_object(${others.reduce((all, severity) => db`${all}, ${count(severity)}`, count(first))})`
}
