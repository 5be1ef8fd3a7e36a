import { buildAverageId } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { DecidedMark } from '../vocabulary/finding.ts'
import type { Grouped, MergeScope } from './grouping.store.ts'

/** A dismissal or reopening that is applied to findings. */
type Applied = { triageId: string; findingIds: readonly string[]; at: Date }

/**
 * Applies a dismissal or reopening to findings. It decides the state of each of them until a newer
 * triage of the finding does; a person's triage decides before a document's. The repositories must
 * be locked (`lockTriaged`). Returns the issues to refresh with `updateRefreshedIssues`.
 */
export async function updateTriagedFindings(
  tx: Tx,
  orgId: string,
  { triageId, findingIds, at }: Applied,
): Promise<string[]> {
  await tx`
    insert into triage_findings (org_id, triage_id, finding_id)
    select ${orgId}, ${triageId}, finding_id
    from unnest(${[...findingIds]}::uuid[]) finding_id
    on conflict do nothing`
  return updateSettledFindings(tx, orgId, findingIds, at)
}

/**
 * After triages have ended: the triages that they hid decide again, or else the reports. The
 * repositories must be locked. Returns the issues to refresh.
 */
export async function updateFindingsOfEnded(
  tx: Tx,
  orgId: string,
  triageIds: readonly string[],
  at: Date,
): Promise<string[]> {
  const rows = await tx<{ finding_id: string }[]>`
    select distinct finding_id
    from triage_findings
    where org_id = ${orgId}
      and triage_id = any(${[...triageIds]}::uuid[])`
  return updateSettledFindings(
    tx,
    orgId,
    rows.map(({ finding_id }) => finding_id),
    at,
  )
}

/**
 * Derives which triage decides the state of each finding. The repositories must be locked. Returns
 * the issues of those that changed.
 */
export async function updateSettledFindings(
  tx: Tx,
  orgId: string,
  findingIds: readonly string[],
  at: Date,
): Promise<string[]> {
  if (findingIds.length === 0) return []
  const rows = await tx<{ issue_id: string }[]>`
    with settled as (
      update findings finding
      set triage_id = decisive.triage_id, triaged_state = decisive.state, updated_at = ${at}
      from unnest(${[...findingIds]}::uuid[]) triaged (finding_id)
      left join lateral (
        select triage.id as triage_id, case triage.action when 'dismiss' then 'dismissed' else 'open' end as state
        from triage_findings part
        join triages triage on triage.org_id = part.org_id and triage.id = part.triage_id
        where part.org_id = ${buildAverageId(tx, orgId)}
          and part.finding_id = triaged.finding_id
          and part.ended_at is null
          and triage.ended_at is null
        order by triage.source = 'shiplock' desc, part.no desc
        limit 1
      ) decisive on true
      where finding.org_id = ${buildAverageId(tx, orgId)}
        and finding.id = triaged.finding_id
        and finding.triage_id is distinct from decisive.triage_id
      returning finding.issue_id
    )
    select distinct issue_id
    from settled`
  return rows.map(({ issue_id }) => issue_id)
}

/** A finding whose dismissals end, because something else is reported than what was looked at. */
export type EndedDismissal = { finding_id: string; changed: readonly DecidedMark[] }

/**
 * Ends the dismissals by people of some findings, which hold on for the other findings of their
 * triages. The repository must be locked. Returns the issues to refresh.
 */
export async function updateEndedDismissals(
  tx: Tx,
  orgId: string,
  ended: readonly EndedDismissal[],
  { at, regroupId = null }: { at: Date; regroupId?: string | null },
): Promise<string[]> {
  const findingIds = ended.map(({ finding_id }) => finding_id)
  if (findingIds.length === 0) return []
  await tx`
    update triage_findings part
    set ended_at = ${at}, changed = string_to_array(ended.changed, ','), regroup_id = ${regroupId}
    from unnest(${findingIds}::uuid[], ${ended.map(({ changed }) => changed.join(','))}::text[]) ended (finding_id, changed),
      triages triage
    where part.org_id = ${buildAverageId(tx, orgId)}
      and part.finding_id = ended.finding_id
      and part.ended_at is null
      and triage.org_id = part.org_id
      and triage.id = part.triage_id
      and triage.action = 'dismiss'
      and triage.source = 'shiplock'
      and triage.ended_at is null`
  return updateSettledFindings(tx, orgId, findingIds, at)
}

/**
 * A repository with dismissals that a regroup ended and still notes as such; null if there is none.
 */
export async function findReopenedRepository(tx: Tx, orgId: string, regroupId: string): Promise<number | null> {
  const [row] = await tx<{ repository_no: number }[]>`
    select finding.repository_no
    from triage_findings part
    join findings finding on finding.org_id = part.org_id and finding.id = part.finding_id
    where part.org_id = ${orgId}
      and part.regroup_id = ${regroupId}
    limit 1`
  return row?.repository_no ?? null
}

const RESTORED_AT_ONCE = 5000

/**
 * Restores some of the dismissals that a regroup ended in a repository, except of findings that
 * were written since, and forgets that it ended them. Returns the issues to refresh.
 */
export async function updateRestoredDismissals(
  tx: Tx,
  orgId: string,
  { regroupId, repositoryNo }: { regroupId: string; repositoryNo: number },
  at: Date,
): Promise<string[]> {
  const rows = await tx<{ finding_id: string }[]>`
    with noted as (
      select part.triage_id, part.finding_id, finding.updated_at <= part.ended_at as is_restored
      from triage_findings part
      join findings finding on finding.org_id = part.org_id and finding.id = part.finding_id
      where part.org_id = ${orgId}
        and part.regroup_id = ${regroupId}
        and finding.repository_no = ${repositoryNo}
      limit ${RESTORED_AT_ONCE}
    ),
    forgotten as (
      update triage_findings part
      set regroup_id = null, ended_at = case when noted.is_restored then null else part.ended_at end,
        changed = case when noted.is_restored then null else part.changed end
      from noted
      where part.org_id = ${orgId}
        and part.triage_id = noted.triage_id
        and part.finding_id = noted.finding_id
    )
    select finding_id
    from noted
    where is_restored`
  return updateSettledFindings(
    tx,
    orgId,
    rows.map(({ finding_id }) => finding_id),
    at,
  )
}

/** Findings of two streams that are the same problems, in the same order. */
export type SameFindings = { from: readonly string[]; into: readonly string[] }

/** Dismissals count until a time. Reopenings always do, so that none is lost on the way. */
type Inherited = SameFindings & { until: Date }

/**
 * Gives findings the first-seen dates of the same problems in another stream, and the decisions if
 * they show what was looked at, except where a person's decision about the finding itself is in
 * effect, or is newer and has ended. The repository must be locked. Returns the issues to refresh.
 */
export async function updateInheritedFindings(
  tx: Tx,
  orgId: string,
  { from, into, until }: Inherited,
  at: Date,
): Promise<string[]> {
  if (into.length === 0) return []
  await tx`
    update findings finding
    set first_seen_at = earlier.first_seen_at
    from unnest(${[...from]}::uuid[], ${[...into]}::uuid[]) same (from_id, into_id)
    join findings earlier on earlier.org_id = ${buildAverageId(tx, orgId)} and earlier.id = same.from_id
    where finding.org_id = ${buildAverageId(tx, orgId)}
      and finding.id = same.into_id
      and earlier.first_seen_at < finding.first_seen_at`
  await tx`
    insert into triage_findings (org_id, triage_id, finding_id)
    select ${orgId}, part.triage_id, same.into_id
    from unnest(${[...from]}::uuid[], ${[...into]}::uuid[]) same (from_id, into_id)
    join triage_findings part on part.org_id = ${buildAverageId(tx, orgId)} and part.finding_id = same.from_id
    join triages triage on triage.org_id = ${buildAverageId(tx, orgId)} and triage.id = part.triage_id
    join findings earlier on earlier.org_id = ${buildAverageId(tx, orgId)} and earlier.id = same.from_id
    join findings finding on finding.org_id = ${buildAverageId(tx, orgId)} and finding.id = same.into_id
    where triage.ended_at is null
      and part.ended_at is null
      and (triage.action = 'reopen' or (triage.created_at <= ${until} and ${isLookedAt(tx)}))
      and not exists (
        select from triage_findings own
        join triages decision on decision.org_id = own.org_id and decision.id = own.triage_id
        where own.org_id = ${buildAverageId(tx, orgId)}
          and own.finding_id = same.into_id
          and decision.source = 'shiplock'
          and (coalesce(own.ended_at, decision.ended_at) is null or decision.created_at >= triage.created_at)
      )
    order by part.no
    on conflict do nothing`
  return updateSettledFindings(tx, orgId, into, at)
}

/** `isReplaced`: the newest report is one of the other stream, and does not have the findings. */
type MovedFindings = { from: number; into: number; isReplaced: boolean }

/**
 * Moves all findings of a stream to another one, in which they go on. The repository must be
 * locked.
 */
export async function updateStreamOfFindings(
  tx: Tx,
  orgId: string,
  { from, into, isReplaced }: MovedFindings,
  at: Date,
): Promise<void> {
  const [{ base }] = await tx<[{ base: number }]>`
    select coalesce(max(ordinal), -1) + 1 as base
    from findings
    where org_id = ${buildAverageId(tx, orgId)}
      and stream_id = ${into}`
  await tx`
    update findings finding
    set stream_id = ${into}, ordinal = finding.ordinal + ${base}, updated_at = ${at},
      last_seen_at = case
        when ${isReplaced}
        then coalesce(finding.last_seen_at, nullif(stream.seen_at, '-infinity'), finding.first_seen_at)
        else finding.last_seen_at
      end,
      last_commit_sha = case
        when ${isReplaced} and finding.last_seen_at is null then stream.commit_sha
        else finding.last_commit_sha
      end
    from finding_streams stream
    where stream.org_id = ${orgId}
      and stream.id = ${from}
      and finding.org_id = stream.org_id
      and finding.stream_id = stream.id`
}

/** Moves findings back to the stream that they were moved from. */
export async function updateMovedFindings(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  streamId: number,
): Promise<void> {
  await tx`
    update findings
    set stream_id = ${streamId}
    where org_id = ${buildAverageId(tx, orgId)}
      and id = any(${[...ids]}::uuid[])`
}

/** Whether a row `finding` has the marks of the row `earlier`, which somebody looked at. */
function isLookedAt(tx: Tx): ReturnType<Tx> {
  return tx`(
    finding.path is not distinct from earlier.path
    and finding.package_version is not distinct from earlier.package_version
    and (
      finding.context = earlier.context
      or finding.package_name = earlier.package_name
      or (
        (finding.context is null or earlier.context is null)
        and finding.fingerprint = earlier.fingerprint
        and finding.description is not distinct from earlier.description
        and (finding.start_column, finding.end_column) is not distinct from (earlier.start_column, earlier.end_column)
      )
    )
  )`
}

/**
 * Closes the findings of a stream that has ended, also those that its report dismissed. Returns the
 * issues to refresh.
 */
export async function updateEndedFindings(tx: Tx, orgId: string, streamId: number, at: Date): Promise<string[]> {
  const rows = await tx<{ issue_id: string }[]>`
    with closed as (
      update findings finding
      set reported_state = 'fixed', last_seen_at = coalesce(finding.last_seen_at, stream.seen_at),
        last_commit_sha = case when finding.last_seen_at is null then stream.commit_sha else finding.last_commit_sha end,
        updated_at = ${at}
      from finding_streams stream
      where stream.org_id = ${orgId}
        and stream.id = ${streamId}
        and finding.org_id = stream.org_id
        and finding.stream_id = stream.id
        and finding.reported_state <> 'fixed'
      returning finding.issue_id
    )
    select distinct issue_id
    from closed`
  return rows.map(({ issue_id }) => issue_id)
}

/** Moves the stored findings whose issue or grouping reason changed. */
export async function updateGrouping({ tx, scope }: Grouped): Promise<void> {
  await tx`
    update findings finding
    set issue_id = grouped.issue_id, grouping_code = grouped.grouping_code,
      grouping_detail = grouped.grouping_detail, grouped_at = ${scope.at}
    from grouped
    where finding.org_id = ${buildAverageId(tx, scope.org_id)}
      and finding.id = grouped.finding_id
      and (finding.issue_id, finding.grouping_code, finding.grouping_detail)
        is distinct from (grouped.issue_id, grouped.grouping_code, grouped.grouping_detail)`
}

export async function updateIssueOfFindings(
  tx: Tx,
  scope: MergeScope,
  ids: readonly string[],
  into: string,
): Promise<void> {
  await tx`
    update findings
    set issue_id = ${into}, grouped_at = ${scope.at}
    where org_id = ${buildAverageId(tx, scope.org_id)}
      and id = any(${ids}::uuid[])`
}

/** Moves all findings of these issues to another one. */
export async function updateIssueOfAllFindings(
  tx: Tx,
  scope: MergeScope,
  issueIds: readonly string[],
  into: string,
): Promise<void> {
  await tx`
    update findings
    set issue_id = ${into}, grouped_at = ${scope.at}
    where org_id = ${buildAverageId(tx, scope.org_id)}
      and issue_id = any(${issueIds}::uuid[])`
}

/** Gives the findings of an edit their issues and reasons before it. */
export async function updateRestoredFindings(tx: Tx, { org_id, no }: StoredEdit, at: Date): Promise<void> {
  await tx`
    update security_issues issue
    set merged_into = null, updated_at = ${at}
    where issue.org_id = ${buildAverageId(tx, org_id)}
      and issue.merged_into is not null
      and issue.id in (select issue_id from issue_pins where org_id = ${org_id} and edit_no = ${no})`
  await tx`
    update findings finding
    set issue_id = pin.issue_id, grouping_code = pin.grouping_code, grouping_detail = pin.grouping_detail,
      grouped_at = pin.grouped_at
    from issue_pins pin
    where pin.org_id = ${buildAverageId(tx, org_id)}
      and pin.edit_no = ${buildAverageId(tx, no)}
      and finding.org_id = pin.org_id
      and finding.id = pin.finding_id`
}

export type StoredEdit = { org_id: string; no: number; repository_no: number }
/**
 * Moves findings back to their former issues, except those that have moved again since. `batch` is
 * the condition on the records of the moves.
 */
export async function updateReturnedFindings(tx: Tx, batch: ReturnType<Tx>): Promise<void> {
  await tx`
    update findings finding
    set issue_id = before.issue_id, grouping_code = before.grouping_code, grouping_detail = before.grouping_detail,
      grouped_at = before.grouped_at
    from (select * from issue_regroup_findings where ${batch}) before
    where finding.org_id = before.org_id
      and finding.id = before.finding_id
      and finding.issue_id = before.new_issue_id`
  // Findings that joined an issue which is removed below move to the issue that it came from.
  await tx`
    update findings finding
    set issue_id = coalesce(gone.merged_into, gone.split_from)
    from (select * from issue_regroup_issues where ${batch} and (is_new or merged_into is not null)) gone
    where finding.org_id = gone.org_id
      and finding.issue_id = gone.issue_id`
}

/**
 * Shows the status of these alerts in their findings at once. Otherwise, the job that brings
 * findings in line with their alerts would do it a moment later. The empty hash makes that job
 * write the finding again. `alerts` selects them as `buildShownAlerts` does. The repositories of
 * the findings must be locked. Returns the issues to refresh.
 */
export async function updateShownStatus(tx: Tx, orgId: string, alerts: ReturnType<Tx>, at: Date): Promise<string[]> {
  const rows = await tx<{ issue_id: string }[]>`
    with shown as (
      update findings finding
      set reported_state = alert.status, reported_dismiss_reason = alert.dismiss_reason,
        reported_dismiss_comment = alert.dismiss_comment, reported_dismissed_by_name = alert.dismissed_by_name,
        reported_dismissed_at = alert.dismissed_at::timestamptz, reported_dismissal_source = alert.dismissal_source,
        content_hash = '\\x', updated_at = ${at}
      from (${alerts}) alert
      where finding.org_id = ${orgId}
        and finding.id = alert.finding_id
        and finding.reported_state <> alert.status
      returning finding.issue_id
    )
    select distinct issue_id
    from shown`
  return rows.map(({ issue_id }) => issue_id)
}
