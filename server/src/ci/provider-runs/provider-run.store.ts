import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type {
  AttemptFacts,
  AttemptVersion,
  LastingFacts,
  ProviderRun,
  ProviderRunKey,
  RunCourse,
} from '../runs/provider-run.ts'
import { upsertCiRun } from '../runs/run-row.store.ts'

/** The version of the stored facts of a run; null if the run is not stored. */
export async function findRunVersion(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<string | null> {
  const [row] = await tx<{ host_version: string }[]>`
    select host_version
    from provider_runs
    where org_id = ${org_id}
      and run_id = ${run_id}`
  return row?.host_version ?? null
}

/** Stores the facts of a run and its newest attempt, in place of the stored ones. */
export async function upsertRun(tx: Tx, key: ProviderRunKey, run: ProviderRun, course: RunCourse): Promise<void> {
  await Promise.all([upsertCiRun(tx, key, run, course), upsertProviderRun(tx, key, run)])
}

async function upsertProviderRun(tx: Tx, { org_id, run_id }: ProviderRunKey, run: ProviderRun): Promise<void> {
  await tx`
    insert into provider_runs (
      org_id, run_id, provider, repository_id, repository_owner_id, workflow_id, workflow_path, run_number, branch,
      head_repository_id, trigger_kind, commit_sha, release_name, actor_id, actor_login, actor_avatar_url, actor_url,
      azure, created_at, host_version
    )
    select ${org_id}, ${run_id}, ${run.provider}, ${run.repository_id},
      coalesce(
        (
          select repository.owner_id
          from repositories repository
          where repository.org_id = ${org_id}
            and repository.provider = ${run.provider}
            and repository.id = ${run.repository_id}
        ),
        ${run.repository_owner_id}
      ),
      ${run.workflow_id}, ${run.workflow_path}, ${run.run_number}::integer, ${run.branch}, ${run.head_repository_id},
      ${run.trigger_kind}, ${run.commit_sha}, ${run.release_name}, ${run.actor_id}, ${run.actor_login},
      ${run.actor_avatar_url}, ${run.actor_url}, ${run.azure && tx.json(run.azure)}, ${run.created_at}::timestamptz,
      ${run.host_version}
    on conflict (org_id, run_id) do update
    set repository_id = excluded.repository_id, repository_owner_id = excluded.repository_owner_id,
      workflow_id = excluded.workflow_id, workflow_path = excluded.workflow_path, run_number = excluded.run_number,
      branch = excluded.branch, head_repository_id = excluded.head_repository_id,
      trigger_kind = excluded.trigger_kind, commit_sha = excluded.commit_sha,
      release_name = excluded.release_name, actor_id = excluded.actor_id, actor_login = excluded.actor_login,
      actor_avatar_url = excluded.actor_avatar_url, actor_url = excluded.actor_url, azure = excluded.azure,
      created_at = excluded.created_at, host_version = excluded.host_version`
}

/**
 * Adds facts that no version takes back. Of two pull requests, the one with the lower number stays.
 */
export async function updateLastingFacts(tx: Tx, key: ProviderRunKey, facts: LastingFacts): Promise<void> {
  const { commit_message, pull_request } = facts
  if (commit_message === null && pull_request === null) return
  const [number, url] = [pull_request?.number ?? null, pull_request?.url ?? null]
  const isLower = tx`(${number}::int < coalesce(pull_request_number, ${number}::int + 1))`
  await tx`
    update provider_runs
    set commit_message = coalesce(commit_message, ${commit_message}),
      pull_request_number = case when ${isLower} then ${number} else pull_request_number end,
      pull_request_url = case when ${isLower} then ${url} else pull_request_url end
    where org_id = ${key.org_id}
      and run_id = ${key.run_id}
      and (${isLower} or (commit_message is null and ${commit_message}::text is not null))`
}

/**
 * Asks for the details again, because earlier attempts of the run, or their ends, are not known.
 */
export async function updateDetailsDue(tx: Tx, key: ProviderRunKey): Promise<void> {
  await tx`
    update provider_runs
    set details_due = true, details_tried_at = null
    where org_id = ${key.org_id}
      and run_id = ${key.run_id}`
}

/** Asks for the failure of an attempt, or forgets that it was asked for (null). */
export async function updateFailureDue(tx: Tx, key: ProviderRunKey, attempt: number | null): Promise<void> {
  await tx`
    update provider_runs
    set failure_attempt = ${attempt}, failure_category = null, failure_excerpt = null,
      failure_due = ${attempt !== null}, failure_tried_at = null
    where org_id = ${key.org_id}
      and run_id = ${key.run_id}`
}

/** Marks runs whose scores must be computed again. */
export async function insertUnscored(
  db: Db,
  { org_id, provider, repository_id }: { org_id: string; provider: string; repository_id: string },
  runIds: readonly string[],
): Promise<void> {
  await db`
    insert into unscored_provider_runs (org_id, provider, repository_id, run_id)
    select ${org_id}, ${provider}, ${repository_id}, run_id
    from unnest(${runIds as string[]}::text[]) as given (run_id)
    order by run_id
    on conflict do nothing`
}

/**
 * The host's ids of a repository's runs that are stored as open, newest first. The synchronization
 * reads them again.
 */
export async function listOpenProviderRuns(
  db: Db,
  orgId: string,
  { provider, id }: { provider: string; id: string },
  limit: number,
): Promise<string[]> {
  const rows = await db<{ external_run_id: string }[]>`
    select run.external_run_id
    from ci_runs run
    join provider_runs provider_run on provider_run.org_id = run.org_id and provider_run.run_id = run.id
    where run.org_id = ${orgId}
      and run.completed_at is null
      and run.provider <> 'other'
      and provider_run.provider = ${provider}
      and provider_run.repository_id = ${id}
    order by run.created_at desc, run.id desc
    limit ${limit}`
  return rows.map(({ external_run_id }) => external_run_id)
}

/** Locks what is known of a run until the transaction ends, also if nothing is stored yet. */
export async function lockProviderRun(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<void> {
  await lockName(tx, `run ${org_id} ${run_id}`)
}

type FactsRow = { number: number; job_started: boolean } & {
  [Field in keyof AttemptVersion]: AttemptVersion[Field] | null
}

const ATTEMPTS_MAX = 999

export async function listAttemptFacts(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<AttemptFacts[]> {
  const rows = await tx<FactsRow[]>`
    select number, job_started, host_version, status, url, actor, started_at, completed_at, host_updated_at
    from provider_run_attempts
    where org_id = ${org_id}
      and run_id = ${run_id}
    order by number
    limit ${ATTEMPTS_MAX}`
  return rows.map(({ number, job_started, ...version }) => ({
    number,
    job_started,
    version: version.host_version === null ? null : (version as AttemptVersion),
  }))
}

export async function upsertAttemptFacts(
  tx: Tx,
  { org_id, run_id }: ProviderRunKey,
  { number, job_started, version }: AttemptFacts,
): Promise<void> {
  await tx`
    insert into provider_run_attempts (
      org_id, run_id, number, job_started, host_version, status, url, actor, started_at, completed_at, host_updated_at
    )
    values (
      ${org_id}, ${run_id}, ${number}, ${job_started}, ${version?.host_version ?? null}, ${version?.status ?? null},
      ${version?.url ?? null}, ${version?.actor ?? null}, ${version?.started_at ?? null},
      ${version?.completed_at ?? null}, ${version?.host_updated_at ?? null}
    )
    on conflict (org_id, run_id, number) do update
    set job_started = excluded.job_started, host_version = excluded.host_version, status = excluded.status,
      url = excluded.url, actor = excluded.actor, started_at = excluded.started_at,
      completed_at = excluded.completed_at, host_updated_at = excluded.host_updated_at`
}

/** An account on a code host. */
export type HostLogin = { provider: string; login: string }

/**
 * The accounts that started a run and its attempt, as the code host or the token of the CI job
 * states them. What an API key states about the actor of a run is not evidence and is left out.
 */
export async function listRunStarters(db: Db, orgId: string, runId: string, attempt: number): Promise<HostLogin[]> {
  return db<HostLogin[]>`
    select provider, actor_login as login
    from provider_runs
    where org_id = ${orgId}
      and run_id = ${runId}
      and actor_login is not null
    union
    select run.provider, attempt.actor
    from provider_run_attempts attempt
    join provider_runs run on run.org_id = attempt.org_id and run.run_id = attempt.run_id
    where attempt.org_id = ${orgId}
      and attempt.run_id = ${runId}
      and attempt.number = ${attempt}
      and attempt.actor is not null
    union
    select claimed_provider, coalesce(claims ->> 'actor', claims ->> 'user_login')
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
      and claimed_provider is not null
      and coalesce(claims ->> 'actor', claims ->> 'user_login') is not null`
}
