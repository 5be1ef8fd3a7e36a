import type { Db, Tx } from '../../../platform/db/sql.ts'
import type { Grouped } from '../writing/grouping-tables.store.ts'

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
