import type { Sql } from '../../src/platform/db/sql.ts'

/** Stores finished runs of five years ago, each with a report and an attestation. */
export async function storeExpiredRuns(sql: Sql, orgId: string, runs: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await tx`
      insert into ci_runs (
        org_id, id, provider, ci_system, external_run_id, repository, commit_sha, pipeline_name, event, trust,
        credential_type, credential_id, credential_name, day, day_number, newest_attempt, status, started_at, completed_at,
        deadline_at, created_at, updated_at
      )
      select ${orgId}, 'run_e' || n, 'other', 'expired', n::text, 'github.com/acme/expired-' || n % 100,
        lpad(to_hex(n), 40, '0'), 'build', 'push', 'self_reported', 'api_key', md5((n / 2000)::text)::uuid, 'expired',
        at::date, 1 + n % 2000, 1, 'success', at, at + interval '5 minutes', at + interval '6 hours', at, at
      from (
        select n, now() - interval '5 years' - n * interval '1 second' as at
        from generate_series(0, ${runs}::int - 1) n
      ) expired`
    await tx`
      insert into ci_reports (
        org_id, id, run_id, attempt, job_name, name, created_at, updated_at, trust
      )
      select org_id, '1-' || left(md5(id), 24), id, 1, 'build', 'report', created_at, updated_at, 'self_reported'
      from ci_runs
      where org_id = ${orgId}
        and ci_system = 'expired'`
    await tx`
      insert into ci_attestations (org_id, id, report_id, kind, name, data, status, created_at, updated_at, trust)
      select org_id, gen_random_uuid(), id, 'test-results', 'tests', '{"passed": 1200, "failed": 0, "skipped": 3}', 'pass',
        created_at, updated_at, 'self_reported'
      from ci_reports
      where org_id = ${orgId}
        and run_id like 'run_e%'`
  })
  await sql`analyze ci_runs, ci_reports, ci_attestations`
}
