import type { Db, Tx } from '../../../platform/db/sql.ts'
import { DISTRIBUTION_CVE } from '../../vocabulary/vulnerability-id.ts'

/**
 * Notes the buckets of all issues, of every organization, that name one of the import's `touched_ids`. They are all looked
 * through: looking ids up one by one takes longer from some hundred of them on.
 */
export async function noteDueBuckets(tx: Tx, source: string): Promise<void> {
  await tx`
    insert into issue_regroup_due (org_id, repository_no, bucket, source)
    select distinct issue.org_id, issue.repository_no, issue.bucket, ${source}
    from security_issues issue
    cross join unnest(issue.vuln_ids) said
    join touched_ids touched on touched.id = regexp_replace(said, ${DISTRIBUTION_CVE}, '\\1')
    where issue.merged_into is null
      and issue.vuln_ids <> '{}'
    on conflict do nothing`
}

export type DueRepository = { org_id: string; repository_no: number; source: string }

/** A repository with buckets that are to be grouped anew. */
export async function nextDueRepository(db: Db): Promise<DueRepository | null> {
  const [row] = await db<DueRepository[]>`
    select org_id, repository_no, source
    from issue_regroup_due
    order by org_id, repository_no
    limit 1`
  return row ?? null
}

const BUCKETS_AT_ONCE = 1000

/** Takes buckets of a repository off the list, as hex; with the transaction they are back on it when it fails. */
export async function takeDueBuckets(tx: Tx, { org_id, repository_no, source }: DueRepository): Promise<string[]> {
  const rows = await tx<{ bucket: string }[]>`
    delete from issue_regroup_due due
    using (
      select bucket
      from issue_regroup_due
      where org_id = ${org_id}
        and repository_no = ${repository_no}
        and source = ${source}
      order by bucket
      limit ${BUCKETS_AT_ONCE}
    ) next
    where due.org_id = ${org_id}
      and due.repository_no = ${repository_no}
      and due.bucket = next.bucket
    returning encode(due.bucket, 'hex') as bucket`
  return rows.map(({ bucket }) => bucket)
}
