import type { Db, Tx } from '../../platform/db/sql.ts'
import { presentHolderFirst } from '../../repositories/repository-lookup.store.ts'
import { type AttemptKey, completedAt, statusAt } from './attempt-deadline.store.ts'
import { attemptsOf, type StoredAttempt } from './run-attempt.store.ts'

/** The fields that all attempts of a self-reported run share. */
export type RunRow = {
  org_id: string
  id: string
  provider: string
  ci_system: string
  ci_system_name: string | null
  external_run_id: string
  repository: string
  commit_sha: string
  ref: string | null
  pipeline_name: string
  event: string
  trust: string
  credential: { type: string; id: string; name: string }
}

export type LinkedRepository = { provider: string; id: string }

/** Finds a run by its external id and locks it until the transaction ends. */
export async function lockRun(tx: Tx, orgId: string, ciSystem: string, externalRunId: string) {
  const [row] = await tx<{ id: string; newest_attempt: number }[]>`
    select id, newest_attempt
    from ci_runs
    where org_id = ${orgId}
      and ci_system = ${ciSystem}
      and external_run_id = ${externalRunId}
    for update`
  return row ?? null
}

/**
 * Locks a run until the transaction ends. Returns the number of its newest attempt, or null when it
 * does not exist.
 */
export async function lockRunById(tx: Tx, orgId: string, runId: string): Promise<number | null> {
  const [row] = await tx<{ newest_attempt: number }[]>`
    select newest_attempt
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
    for update`
  return row?.newest_attempt ?? null
}

/**
 * Locks a self-reported run until the transaction ends. Returns the number of its newest attempt,
 * or null when it does not exist. Only its code host changes a verified run.
 */
export async function lockSelfReportedRun(tx: Tx, orgId: string, runId: string): Promise<number | null> {
  const [row] = await tx<{ newest_attempt: number }[]>`
    select newest_attempt
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
      and trust = 'self_reported'
    for update`
  return row?.newest_attempt ?? null
}

/**
 * The id of the credential that created a run; null when the run does not exist or comes from a
 * code host.
 */
export async function findRunCredential(db: Db, orgId: string, runId: string): Promise<string | null> {
  const [row] = await db<{ credential_id: string | null }[]>`
    select credential_id
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}`
  return row?.credential_id ?? null
}

/**
 * A run with one of its attempts, at a certain time. A verified run has no CI system, deadline or
 * credential.
 */
export type StoredRun = Omit<RunRow, 'org_id' | 'ci_system' | 'credential'> &
  Omit<StoredAttempt, 'deadline_at'> & {
    ci_system: string | null
    deadline_at: Date | null
    attempt: number
    linked_repository: LinkedRepository | null
    credential: RunRow['credential'] | null
    created_at: Date
    updated_at: Date
  }

/** A run that was created through this API. */
export type SelfReportedRun = StoredRun & { ci_system: string; deadline_at: Date; credential: RunRow['credential'] }

/** A run with one of its attempts, which must exist, at `now`. */
export async function readRun(db: Db, key: AttemptKey, now: Date): Promise<StoredRun> {
  return (await findRun(db, key, now)) as StoredRun
}

/** The same for a run that was created through this API. */
export async function readSelfReportedRun(db: Db, key: AttemptKey, now: Date): Promise<SelfReportedRun> {
  return (await readRun(db, key, now)) as SelfReportedRun
}

/** A run with one of its attempts, at `now`; null when the run or the attempt does not exist. */
export async function findRun(db: Db, key: AttemptKey, now: Date): Promise<StoredRun | null> {
  const [row] = await db<StoredRun[]>`
    select run.id, run.provider, run.ci_system, run.ci_system_name, run.external_run_id, attempt.number as attempt,
      run.repository, run.commit_sha, run.ref, run.pipeline_name, attempt.url,
      ${statusAt(db, 'attempt', now)} as status, attempt.started_at, ${completedAt(db, 'attempt', now)} as completed_at,
      attempt.actor, run.event, attempt.deadline_at, run.trust, ${linkedRepository(db)} as linked_repository,
      case when run.credential_id is not null then
        json_build_object('type', run.credential_type, 'id', run.credential_id, 'name', run.credential_name)
      end as credential,
      run.created_at, run.updated_at
    from ci_runs run
    cross join ${attemptsOf(db, key.org_id, key.run_id)} attempt
    where run.org_id = ${key.org_id}
      and run.id = ${key.run_id}
      and attempt.number = ${key.attempt}`
  return row ?? null
}

/** SQL: the connected provider's repository with the host and name of `run.repository`, or null. */
export function linkedRepository(db: Db) {
  return db`(
    select json_build_object('provider', repository.provider, 'id', repository.id)
    from repositories repository
    where repository.org_id = run.org_id
      and repository.host = split_part(run.repository, '/', 1)
      and lower(repository.full_name) = lower(substr(run.repository, strpos(run.repository, '/') + 1))
    order by ${presentHolderFirst(db)}
    limit 1
  )`
}
