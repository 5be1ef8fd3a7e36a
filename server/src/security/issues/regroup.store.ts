import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { deleteAliasChanges } from '../intel/alias.store.ts'
import { DISTRIBUTION_CVE } from '../vocabulary/vulnerability-id.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import type { StoredIssue } from './grouping/describe-groups.ts'
import type { MergedIssue } from './grouping/group-members.ts'

type Repository = Pick<MergeScope, 'org_id' | 'repository_no'>

/**
 * The repository's next buckets after this one, as hex and in order, with about `issuesAtOnce`
 * issues. A bucket is never split. Empty at the end.
 */
export async function listNextBuckets(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo }: Repository,
  after: string | null,
  issuesAtOnce: number,
): Promise<string[]> {
  const rows = await db<{ bucket: string }[]>`
    select encode(bucket, 'hex') as bucket
    from (
      select bucket, sum(issues) over (order by bucket) - issues as before
      from (
        select bucket, count(*) as issues
        from security_issues
        where org_id = ${orgId}
          and repository_no = ${repositoryNo}
          and bucket > decode(${after ?? ''}, 'hex')
          and merged_into is null
        group by bucket
        order by bucket
        limit ${issuesAtOnce}
      ) next
    ) counted
    where before < ${issuesAtOnce}
    order by bucket`
  return rows.map(({ bucket }) => bucket)
}

/** Reads the issues of these buckets, by id. */
export async function listIssues(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo }: Repository,
  buckets: readonly string[],
): Promise<Map<string, StoredIssue>> {
  const rows = await db<StoredIssue[]>`
    select issue.id, encode(issue.bucket, 'hex') as bucket, issue.kind, issue.vuln_ids, issue.canonical_id
    from (select decode(hex, 'hex') as bucket from unnest(${buckets}::text[]) hex) touched
    join security_issues issue
      on issue.org_id = ${buildAverageId(db, orgId)}
      and issue.repository_no = ${buildAverageId(db, repositoryNo)}
      and issue.bucket = touched.bucket
      and issue.merged_into is null`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Reads the issues about vulnerabilities that were merged into these ones. */
export async function listMerged(db: Db, orgId: string, into: readonly string[]): Promise<MergedIssue[]> {
  if (into.length === 0) return []
  return db<MergedIssue[]>`
    select distinct issue.id, issue.merged_into, issue.vuln_ids
    from issue_history history
    join security_issues issue
      on issue.org_id = history.org_id
      and issue.id = history.issue_id
      and issue.merged_into = history.other_issue_id
    where history.org_id = ${buildAverageId(db, orgId)}
      and history.other_issue_id = any(${into}::uuid[])
      and issue.vuln_ids <> '{}'
    order by issue.id desc`
}

/** The organization's next reported repository after this one. Null at the end. */
export async function findNextRepository(db: Db, orgId: string, after: number): Promise<number | null> {
  const [row] = await db<{ id: number }[]>`
    select id
    from reported_repositories
    where org_id = ${orgId}
      and id > ${after}
    order by id
    limit 1`
  return row?.id ?? null
}

export async function countFindings(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)
    from findings
    where org_id = ${orgId}`
  return row.count
}

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

/** A process that regroups an organization writes its progress more often than this. */
const SILENT_MINUTES = 2

/**
 * Returns an organization whose findings were grouped by earlier rules, and that no process is
 * regrouping or undoing.
 */
export async function findOutdatedOrganization(db: Db, now: Date): Promise<string | null> {
  const [row] = await db<{ org_id: string }[]>`
    select org_id
    from issue_rule_changes outdated
    where not exists (
      select from issue_regroups run
      where run.org_id = outdated.org_id
        and (
          run.status = 'undoing'
          or run.status = 'running' and run.updated_at > ${now}::timestamptz - make_interval(mins => ${SILENT_MINUTES})
        )
    )
    order by org_id
    limit 1`
  return row?.org_id ?? null
}

/** Whether the organization has a run that was interrupted. */
export async function hasUnfinishedRun(db: Db, orgId: string): Promise<boolean> {
  const rows = await db`
    select from issue_regroups
    where org_id = ${orgId}
      and status = 'running'`
  return rows.length > 0
}

export async function deleteRuleChange(db: Db, orgId: string): Promise<void> {
  await db`
    delete from issue_rule_changes
    where org_id = ${orgId}`
}
