import type { Sql } from '../src/platform/db/sql.ts'

/**
 * Stores runs, deployments and changes of a year: a hundred repositories, a deployment for every
 * tenth run, one in ten of them failed, and a change for every twentieth.
 */
export async function storeHistory(sql: Sql, orgId: string, runs: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await tx`
      insert into ci_runs (
        org_id, id, provider, ci_system, external_run_id, repository, commit_sha, pipeline_name, event, trust,
        credential_type, credential_id, credential_name, day, day_number, newest_attempt, status, started_at, completed_at,
        deadline_at, created_at, updated_at
      )
      select ${orgId}, 'run_h' || n, 'other', 'history', n::text, 'github.com/acme/history-' || n % 100, ${sha(tx, tx`n`)}, 'build', 'push',
        'self_reported', 'api_key', md5((n % 4)::text)::uuid, 'history', at::date, 1 + n / 4 % 2000, 1,
        (array['success', 'success', 'success', 'failure', 'cancelled'])[1 + n % 5], at, at + interval '5 minutes',
        at + interval '6 hours', at, at
      from ${times(tx, runs)}`
    await tx`
      insert into deployments (
        org_id, id, provider, repository, repository_full_name, repository_id, host, host_id, host_updated_at, environment,
        status, attempt, commit_sha, gated, deployed_at, succeeded_at, created_at, updated_at
      )
      select ${orgId}, 'dep_h' || n, 'github', 'history-' || n % 100, 'acme/history-' || n % 100, (n % 100)::text,
        'github.com', n::text, at, (array['production', 'staging'])[1 + n % 2], made.status, 1, ${sha(tx, tx`n`)}, false, made.deployed_at,
        made.deployed_at, at, at
      from ${times(tx, runs / 10)}
      cross join lateral (
        select case when n % 14 = 4 then 'failure' else 'success' end as status,
          case when n % 14 = 4 then null else at + interval '10 minutes' end as deployed_at
      ) made`
    await tx`
      insert into changes (
        org_id, id, provider, repository_id, branch, landed_by, push_id, merge_sha, link_index, last_index, deviations,
        created_at, recorded_at
      )
      select ${orgId}, 'chg_h' || n, 'github', (n * 2 % 100)::text, 'main', 'push', n::text, ${sha(tx, tx`n * 2`)}, n, n, '{}',
        at - interval '1 hour', at
      from ${times(tx, runs / 20)}`
    await tx`
      insert into change_commits (org_id, provider, repository_id, sha, change_id)
      select org_id, provider, repository_id, merge_sha, id
      from changes
      where org_id = ${orgId}`
  })
}

/** Numbers from 0, with times that are spread evenly over the last year, newest first. */
function times(tx: Sql | Parameters<Parameters<Sql['begin']>[1]>[0], count: number) {
  return tx`(
    select n, now() - n * (interval '365 days' / ${count}::int) as at
    from generate_series(0, ${count}::int - 1) n
  ) history`
}

function sha(tx: Sql | Parameters<Parameters<Sql['begin']>[1]>[0], n: ReturnType<Sql>) {
  return tx`lpad(to_hex(${n}), 40, '0')`
}
