import type { TestApi } from './api.ts'

/**
 * How many rows have the rare values of `insertIssues`: dismissed issues, and issues of GitLab's
 * one repository.
 */
export const RARE = 3

/**
 * Inserts issues with one finding each by SQL. Each issue is a millisecond older than the one
 * before. They have every severity. Half of them are about packages, all with an EPSS score, most
 * of them low, and one in a hundred with a KEV entry. They are spread over some repositories of
 * GitHub, named acme/large-0 and so on, and the rare ones are in acme/small of GitLab, of the
 * scanner "Rare" on a branch and in a category with this name. The findings of dismissed issues are
 * in legacy/old.ts, the others below src. Nothing is analysed.
 */
export async function insertIssues(
  { services: { sql, clock } }: TestApi,
  orgId: string,
  count: number,
  repositories = 1,
): Promise<void> {
  const now = clock.now()
  await sql`
    insert into reported_repositories (org_id, name, provider, provider_id, created_at)
    select ${orgId}, 'acme/large-' || nth, 'github', nth::text, ${now}
    from generate_series(0, ${repositories}::int - 1) nth`
  await sql`
    insert into reported_repositories (org_id, name, provider, provider_id, created_at)
    values (${orgId}, 'acme/small', 'gitlab', '1', ${now})`
  await sql`
    insert into finding_streams (
      org_id, repository_no, category, git_ref, tool, source, origin, tracked, reported_at, seen_at
    )
    select ${orgId}, id, case when name = 'acme/small' then 'rare' end,
      case when name = 'acme/small' then 'refs/heads/rare' else 'main' end,
      case when name = 'acme/small' then 'Rare' else 'Scanner' end, 'sarif', 'upload', true, ${now}, ${now}
    from reported_repositories
    where org_id = ${orgId}`
  await sql`
    insert into security_issues (
      org_id, id, repository_no, bucket, kind, severity, status, listed, vuln_ids, canonical_id, kev, epss, created_at, updated_at
    )
    select ${orgId}, ${timedId(sql)}, repository.id, decode(md5(n::text), 'hex'),
      case when n % 2 = 0 then 'dependency' when n % 20 = 1 then 'secret' else 'code' end, n / 2 % 5,
      case when n % (${count}::int / ${RARE}) = 7 then 'dismissed' when n % 10 < 3 then 'fixed' else 'open' end, true,
      case when n % 2 = 0 then array['CVE-2024-' || n] else '{}' end, case when n % 2 = 0 then 'CVE-2024-' || n end,
      n % 200 = 0, case when n % 2 = 0 then 1 / (1 + n % 9973)::real else 0 end, at, at
    from ${rows(sql, now, count)}
    join reported_repositories repository
      on repository.org_id = ${orgId}
      and repository.name = case
        when n % (${count}::int / ${RARE}) = 11 then 'acme/small'
        else 'acme/large-' || n % ${repositories}::int
      end`
  await sql`
    insert into findings (
      org_id, id, stream_id, repository_no, fingerprint, fingerprint_method, ordinal, content_hash, kind, severity, reported_state, title,
      path, vuln_ids, cwes, intel_at_detection, issue_id, grouping_code, grouped_at, first_seen_at, created_at, updated_at
    )
    select issue.org_id, issue.id, stream.id, issue.repository_no, issue.bucket, 'test', 0, issue.bucket, issue.kind, 'high',
      issue.status, 'Title',
      case when issue.status = 'dismissed' then 'legacy/old.ts' else 'src/' || left(issue.id::text, 9) || '/new.ts' end, issue.vuln_ids, '{}', '{}', issue.id, 'single', created_at, created_at, created_at, created_at
    from security_issues issue
    join finding_streams stream on stream.org_id = issue.org_id and stream.repository_no = issue.repository_no
    where issue.org_id = ${orgId}`
}

/** Gives the planner the statistics of the tables that `insertIssues` fills. */
export async function analyzeIssues({ services: { sql } }: TestApi): Promise<void> {
  await sql`analyze reported_repositories, finding_streams, security_issues, findings`
}

function rows(sql: TestApi['services']['sql'], now: Date, count: number) {
  return sql`(
    select n, ${now}::timestamptz - n * interval '1 millisecond' as at
    from generate_series(0, ${count}::int - 1) n
  ) made`
}

/** A version 7 UUID of the moment `at`. */
function timedId(sql: TestApi['services']['sql']) {
  return sql`(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`
}
