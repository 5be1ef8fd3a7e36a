import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Grouped } from '../writing/grouping.store.ts'

/** One batch of a run. It is undone in one transaction. */
export type Batch = { org_id: string; regroup_id: string; batch: number; repository_no: number }

/**
 * Saves the findings and issues that are about to change, as they are before it. An issue whose
 * findings only have new reasons does not change.
 */
export async function insertBatch({ tx }: Grouped, batch: Batch): Promise<void> {
  const { org_id, regroup_id, repository_no } = batch
  await tx`
    insert into issue_regroup_findings (
      org_id, regroup_id, batch, repository_no, finding_id, issue_id, grouping_code, grouping_detail, grouped_at,
      new_issue_id
    )
    select ${org_id}, ${regroup_id}, ${batch.batch}, ${repository_no}, finding.id, finding.issue_id,
      finding.grouping_code, finding.grouping_detail, finding.grouped_at, grouped.issue_id
    from grouped
    join findings finding on finding.org_id = ${org_id} and finding.id = grouped.finding_id
    where (finding.issue_id, finding.grouping_code, finding.grouping_detail)
      is distinct from (grouped.issue_id, grouped.grouping_code, grouped.grouping_detail)`
  await tx`
    insert into issue_regroup_issues (
      org_id, regroup_id, batch, repository_no, issue_id, is_new, bucket, kind, severity, status, vuln_ids, canonical_id,
      split_from, merged_into
    )
    select ${org_id}, ${regroup_id}, ${batch.batch}, ${repository_no}, touched.id, issue.id is null, issue.bucket,
      issue.kind, issue.severity, issue.status, issue.vuln_ids, issue.canonical_id,
      case when issue.id is null then made.split_from else issue.split_from end, issue.merged_into
    from (
      select id
      from grouped_issues
      union
      select issue_id
      from issue_regroup_findings
      where org_id = ${org_id}
        and regroup_id = ${regroup_id}
        and batch = ${batch.batch}
        and issue_id <> new_issue_id
    ) touched
    left join grouped_issues made on made.id = touched.id
    left join security_issues issue on issue.org_id = ${org_id} and issue.id = touched.id`
}

/** Returns the last batch of a run that is not undone. */
export async function findLastBatch(db: Db, orgId: string, regroupId: string): Promise<Batch | null> {
  const [last] = await db<Pick<Batch, 'batch' | 'repository_no'>[]>`
    select batch, max(repository_no) as repository_no
    from (
      (select batch, repository_no from issue_regroup_findings ${buildLastCondition(db, orgId, regroupId)})
      union all
      (select batch, repository_no from issue_regroup_issues ${buildLastCondition(db, orgId, regroupId)})
    ) last
    group by batch
    order by batch desc
    limit 1`
  return last === undefined ? null : { ...last, org_id: orgId, regroup_id: regroupId }
}

function buildLastCondition(db: Db, orgId: string, regroupId: string) {
  return db`
    where org_id = ${orgId}
      and regroup_id = ${regroupId}
    order by batch desc
    limit 1`
}

/** Deletes a batch that was undone. Returns the ids of its issues. */
export async function deleteBatch(tx: Tx, batch: Batch): Promise<string[]> {
  await tx`delete from issue_regroup_findings where ${buildBatchCondition(tx, batch)}`
  const rows = await tx<{ issue_id: string }[]>`
    delete from issue_regroup_issues
    where ${buildBatchCondition(tx, batch)}
    returning issue_id`
  return rows.map((row) => row.issue_id)
}

export function buildBatchCondition(tx: Tx, { org_id, regroup_id, batch }: Batch): ReturnType<Tx> {
  return tx`org_id = ${org_id} and regroup_id = ${regroup_id} and batch = ${batch}`
}

const UNDONE = 'The regroup was undone.'

/** Restores issues. One that was not merged before is restored only if it has findings again. */
export async function updateReturnedIssues(tx: Tx, batch: Batch, at: Date): Promise<void> {
  await tx`
    with before as (
      select * from issue_regroup_issues where ${buildBatchCondition(tx, batch)} and not is_new
    ),
    returned as (
      update security_issues issue
      set bucket = before.bucket, kind = before.kind, severity = before.severity, status = before.status,
        vuln_ids = before.vuln_ids, canonical_id = before.canonical_id, split_from = before.split_from,
        merged_into = before.merged_into, listed = issue.listed and before.merged_into is null, updated_at = ${at}
      from before
      join security_issues old on old.org_id = before.org_id and old.id = before.issue_id
      where issue.org_id = before.org_id
        and issue.id = before.issue_id
        and (
          before.merged_into is not null
          or exists (
            select from findings where findings.org_id = before.org_id and findings.issue_id = before.issue_id
          )
        )
      returning issue.id, old.merged_into as came_from, issue.merged_into
    )
    insert into issue_history (org_id, issue_id, at, event, other_issue_id, detail)
    select ${batch.org_id}, id, ${at}, 'split', came_from, ${UNDONE}
    from returned
    where came_from is not null
      and merged_into is null`
}

/**
 * Deletes the issues that the batch created. Those that other issues refer to by now are kept as
 * merged.
 */
export async function deleteMadeIssues(tx: Tx, batch: Batch, at: Date): Promise<void> {
  await tx`
    with made as (
      select * from issue_regroup_issues where ${buildBatchCondition(tx, batch)} and is_new
    ),
    noted as (
      insert into issue_history (org_id, issue_id, at, event, other_issue_id, detail)
      select ${batch.org_id}, issue_id, ${at}, 'merged', split_from, ${UNDONE}
      from made
    ),
    kept as (
      update security_issues issue
      set merged_into = made.split_from, listed = false, updated_at = ${at}
      from made
      where issue.org_id = made.org_id ${buildSpreadCondition(tx, 'issue', batch.org_id)}
        and issue.id = made.issue_id
        and ${isReferenced(tx, batch.org_id)}
    )
    delete from security_issues issue
    using made
    where issue.org_id = made.org_id ${buildSpreadCondition(tx, 'issue', batch.org_id)}
      and issue.id = made.issue_id
      and not ${isReferenced(tx, batch.org_id)}`
}

/**
 * True if another issue was split from it or merged into it, for which the history has an index, or
 * if a person has split or merged it.
 */
function isReferenced(tx: Tx, orgId: string) {
  return tx`(exists (
    select from issue_pins pin
    where pin.org_id = made.org_id ${buildSpreadCondition(tx, 'pin', orgId)}
      and pin.issue_id = made.issue_id
  ) or exists (
    select from issue_history history
    join security_issues other on other.org_id = history.org_id and other.id = history.issue_id
    where history.org_id = made.org_id
      ${buildSpreadCondition(tx, 'history', orgId)} ${buildSpreadCondition(tx, 'other', orgId)}
      and history.other_issue_id = made.issue_id
      and made.issue_id in (other.split_from, other.merged_into)
  ))`
}

/** Returns the buckets of these issues. */
export async function listBuckets(tx: Tx, orgId: string, issueIds: readonly string[]): Promise<string[]> {
  const rows = await tx<{ bucket: string }[]>`
    select distinct encode(bucket, 'hex') as bucket
    from security_issues
    where org_id = ${orgId}
      and id = any(${issueIds}::uuid[])`
  return rows.map(({ bucket }) => bucket)
}

/** Marks issues without findings as merged into the issue that the findings moved to. */
export async function updateEmptiedIssues(tx: Tx, batch: Batch, at: Date): Promise<void> {
  await tx`
    update security_issues issue
    set merged_into = gone.into_id, listed = false, updated_at = ${at}
    from (
      select new_issue_id, min(issue_id::text)::uuid as into_id
      from issue_regroup_findings
      where ${buildBatchCondition(tx, batch)}
        and issue_id <> new_issue_id
      group by new_issue_id
    ) gone
    where issue.org_id = ${batch.org_id}
      and issue.id = gone.new_issue_id
      and issue.merged_into is null
      and not exists (select from findings where findings.org_id = issue.org_id and findings.issue_id = issue.id)`
}
