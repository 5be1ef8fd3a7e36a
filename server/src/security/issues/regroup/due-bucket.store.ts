import type { Db, Tx } from '../../../platform/db/sql.ts'
import { deleteAliasChanges } from '../../intel/alias.store.ts'
import { DISTRIBUTION_CVE } from '../../vocabulary/vulnerability-id.ts'

/**
 * Notes the buckets of all issues, of every organization, that name an id whose aliases have
 * changed. Reads all issues in one scan, which is faster than looking up more than a few hundred
 * ids.
 */
export async function insertDueBuckets(tx: Tx): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`
    with changed as (${deleteAliasChanges(tx)})
    insert into issue_regroup_due (org_id, repository_no, bucket, source)
    select distinct issue.org_id, issue.repository_no, issue.bucket, changed.source
    from security_issues issue
    cross join unnest(issue.vuln_ids) vuln_id
    join changed on changed.id = regexp_replace(vuln_id, ${DISTRIBUTION_CVE}, '\\1')
    where exists (select from changed)
      and issue.merged_into is null
      and issue.vuln_ids <> '{}'
    on conflict do nothing`
}

export type DueRepository = { org_id: string; repository_no: number; source: string }

/** Returns a repository with buckets that are due to be regrouped. */
export async function findDueRepository(db: Db): Promise<DueRepository | null> {
  const [row] = await db<DueRepository[]>`
    select org_id, repository_no, source
    from issue_regroup_due
    order by org_id, repository_no
    limit 1`
  return row ?? null
}

const BUCKETS_AT_ONCE = 1000

/**
 * Takes due buckets of a repository off the list, as hex. They are due again if the transaction
 * fails.
 */
export async function deleteDueBuckets(tx: Tx, { org_id, repository_no, source }: DueRepository): Promise<string[]> {
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
