import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Db } from '../../../platform/db/sql.ts'
import type { StoredIssue } from '../grouping/describe-groups.ts'
import type { MergedIssue } from '../grouping/group-members.ts'
import type { MergeScope } from '../writing/grouping.store.ts'

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
