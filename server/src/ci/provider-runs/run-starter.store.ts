import type { Db } from '../../platform/db/sql.ts'

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
