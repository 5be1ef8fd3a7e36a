import type { Caller, TestApi } from './api.ts'
import { createRun } from './ci-runs.ts'
import { configureGate, openGate } from './gates.ts'
import { insertChanges } from './many-changes.ts'
import { insertIssues } from './many-issues.ts'

/**
 * The tables that grow with use. The others stay so small that PostgreSQL never analyses them by
 * itself.
 */
export const LARGE_TABLES = [
  ...['findings', 'security_issues', 'ci_runs', 'deployments', 'security_alerts', 'compliance_results'],
  ...['security_uploads', 'vulnerability_aliases', 'intel_epss', 'intel_advisories'],
  ...['changes', 'change_commits', 'chain_links'],
]

/**
 * An organization with so many rows in every list. No table has planner statistics, and autovacuum
 * is off so that it stays that way.
 */
export async function insertUnanalysed(api: TestApi, rows: number, repositories: number): Promise<Caller> {
  await disableAutovacuum(api)
  const caller = await api.caller()
  await insertIssues(api, caller.orgId, rows, repositories)
  await insertIntel(api, rows)
  await insertRuns(api, caller, rows)
  await insertAlerts(api, caller, rows)
  await insertUploads(api, caller, rows)
  await insertResults(api, caller, rows)
  await insertChanges(api, caller, rows)
  return caller
}

export async function disableAutovacuum({ services: { sql } }: TestApi): Promise<void> {
  const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`
  for (const { name } of tables) await sql`alter table ${sql(name)} set (autovacuum_enabled = off)`
}

/** An alias, an EPSS score and an advisory for every vulnerability that `insertIssues` names. */
async function insertIntel({ services: { sql, clock } }: TestApi, rows: number): Promise<void> {
  await sql`
    insert into vulnerability_aliases (id, canonical_id)
    select prefix || nth, 'CVE-2024-' || nth
    from generate_series(0, ${rows}::int - 1) nth
    cross join unnest(array['CVE-2024-', 'GHSA-']) prefix`
  await sql`
    insert into intel_epss (cve_id, score, percentile)
    select 'CVE-2024-' || nth, 0.5, 0.5
    from generate_series(0, ${rows}::int - 1) nth`
  await sql`
    insert into intel_advisories (id, modified, content_hash, withdrawn)
    select 'GHSA-' || nth, ${clock.now()}, '', false
    from generate_series(0, ${rows}::int - 1) nth`
}

/**
 * Copies of a run and of its deployment, each a second older than the one before. One in a hundred
 * deployments is rare.
 */
async function insertRuns(api: TestApi, caller: Caller, rows: number): Promise<void> {
  await configureGate(api, caller)
  const { id: run_id } = await createRun(api, caller)
  await openGate(api, caller, { run_id })
  const { sql } = api.services
  await sql`
    with copied as (
      insert into ci_runs
      select copy.*
      from ci_runs run
      cross join generate_series(1, ${rows}::int) nth
      cross join lateral jsonb_populate_record(run, jsonb_build_object(
        'id', run.id || '_' || nth, 'external_run_id', 'copy_' || nth, 'day', run.day - 1 - nth / 100,
        'day_number', nth % 100 + 2, 'created_at', run.created_at - nth * interval '1 second'
      )) copy
      returning org_id, id
    )
    insert into ci_run_attempts
    select (jsonb_populate_record(attempt, jsonb_build_object('run_id', copied.id))).*
    from copied
    join ci_run_attempts attempt using (org_id)`
  await sql`
    insert into deployments
    select copy.*
    from deployments deployment
    cross join generate_series(1, ${rows}::int) nth
    cross join lateral jsonb_populate_record(deployment, jsonb_build_object(
      'id', deployment.id || '_' || nth, 'created_at', deployment.created_at - nth * interval '1 second'
    ) || case
      when nth % 100 = 0 then '{"environment": "rare", "status": "success", "answer_until": null}'
      else '{}'
    end::jsonb) copy`
}

/** Uploads of all repositories. One in a thousand has failed. */
async function insertUploads({ services: { sql, clock } }: TestApi, { orgId }: Caller, rows: number): Promise<void> {
  await sql`
    insert into security_uploads (
      org_id, id, repository_no, origin, status, requested_format, filename, size, sha256, tracked, trust, error,
      reported_at, put_until, created_at, updated_at
    )
    select ${orgId}, md5(nth::text), repository.id, 'api', case when nth % 1000 = 0 then 'failed' else 'finished' end,
      'auto', 'report.sarif', 1, md5(nth::text) || md5(nth::text), true, 'uploaded',
      case when nth % 1000 = 0 then 'broken' end, at, at, at, at
    from generate_series(1, ${rows}::int) nth
    cross join lateral (select ${clock.now()}::timestamptz - nth * interval '1 second' as at) time
    join (
      select id, row_number() over (order by id) as number, count(*) over () as count
      from reported_repositories
      where org_id = ${orgId}
    ) repository on repository.number = nth % repository.count + 1`
}

async function insertAlerts({ services: { sql, clock } }: TestApi, { orgId }: Caller, rows: number): Promise<void> {
  await sql`
    insert into security_alerts (
      org_id, id, provider, repository_id, repository, type, number, severity, title, "references", cwes, detected_at,
      host_updated_at, host_status, host_facts, host_hash, created_at
    )
    select ${orgId}, 'alert_' || nth, 'github', '1', 'acme/api', 'code_scanning', nth,
      case when nth % 100 = 0 then 'low' else 'high' end, 'An alert', '[]', '{}', at, at,
      case when nth % 100 = 0 then 'fixed' else 'open' end, 0, decode(md5(''), 'hex'), at
    from generate_series(1, ${rows}::int) nth
    cross join lateral (select ${clock.now()}::timestamptz - nth * interval '1 second' as at) time`
}

async function insertResults({ services: { sql, clock } }: TestApi, { orgId }: Caller, rows: number): Promise<void> {
  await sql`
    insert into compliance_results (
      org_id, id, policy_id, policy_name, repository, status, evaluated_at, created_at, updated_at
    )
    select ${orgId}, 'result_' || nth, 'policy', 'A policy', 'acme/api-' || nth,
      case when nth % 100 = 0 then 'failing' else 'passing' end, at, at, at
    from generate_series(1, ${rows}::int) nth
    cross join lateral (select ${clock.now()}::timestamptz - nth * interval '1 second' as at) time`
}
