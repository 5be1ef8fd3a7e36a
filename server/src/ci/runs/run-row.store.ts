import { isSpread } from '../../platform/db/spread.ts'
import { type Db, getSqlState, type Tx, UNIQUE_VIOLATION } from '../../platform/db/sql.ts'
import { compareTexts } from '../../platform/text.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { ProviderRun, ProviderRunKey, RunCourse } from './provider-run.ts'
import { buildBeside, buildLinkedRepository, type LinkedRepository, type RunRow } from './run.store.ts'
import type { AttemptRow } from './run-attempt.store.ts'

/** A run with its first attempt, created at `created_at`. */
export type NewRun = RunRow & {
  /** The number of this run among the new runs of its credential on the UTC day of `created_at`. */
  day_number: number
  /** False for a run beside others of its number and lane, which are of other servers. */
  is_first: boolean
  attempt: AttemptRow
  /** What the claims of a token say about its own run. Null for other runs. */
  claimed: ClaimedRun | null
  created_at: Date
}

/** The repository that a token names, and the claims that identified its job. */
export type ClaimedRun = {
  provider: string
  repository_id: string
  /** Null if the issuer does not tell the code host, otherwise that of the run's `repository`. */
  host: string | null
  claims: Record<string, string>
}

/**
 * Makes a run that API keys have registered that of its token, which keeps nothing that they said
 * of it and its attempts (trust §1). The run is locked. Returns false if the token has another run.
 */
export async function updateClaimedRun(
  tx: Tx,
  { org_id, id }: { org_id: string; id: string },
  run: Omit<NewRun, 'day_number' | 'is_first' | 'claimed'> & { claimed: ClaimedRun },
  at: Date,
): Promise<boolean> {
  const { attempt, claimed } = run
  try {
    await tx.savepoint(
      (nested) => nested`
    with forgotten as (
      delete from ci_run_attempts
      where org_id = ${org_id}
        and run_id = ${id}
    )
    update ci_runs
    set ci_instance = coalesce(${run.ci_instance}, ci_instance),
      is_first = ${run.ci_instance}::text is null or not exists (
        select
        from ci_runs other
        where other.org_id = ${org_id}
          and other.ci_system = ci_runs.ci_system
          and other.external_run_id = ci_runs.external_run_id
          and other.trust = ${run.trust}
          and other.is_first
      ),
      ci_system_name = ${run.ci_system_name}, attempt_repository = null, attempt_commit_sha = null, repository = ${run.repository}, commit_sha = ${run.commit_sha},
      ref = ${run.ref}, pipeline_name = ${run.pipeline_name}, event = ${run.event}, trust = ${run.trust},
      credential_type = ${run.credential.type}, credential_id = ${run.credential.id},
      credential_name = ${run.credential.name},
      newest_attempt = ${attempt.number}, status = ${attempt.status}, url = ${attempt.url}, actor = ${attempt.actor},
      started_at = ${attempt.started_at}, completed_at = null, deadline_at = ${attempt.deadline_at},
      claims = ${nested.json(claimed.claims)}, claimed_provider = ${claimed.provider},
      claimed_repository_id = ${claimed.repository_id}, created_at = ${at}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`,
    )
    return true
  } catch (error) {
    if (getSqlState(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

/** Names the CI server of a run that was stored without one. The run is locked. */
export async function updateInstance(
  tx: Tx,
  { org_id, run_id }: { org_id: string; run_id: string },
  ciInstance: string,
): Promise<void> {
  await tx`
    update ci_runs
    set ci_instance = ${ciInstance}
    where org_id = ${org_id}
      and id = ${run_id}`
}

/** Keeps the claims that first identified a job of a code host's run. */
export async function updateClaims(
  db: Db,
  { org_id, run_id }: { org_id: string; run_id: string },
  claims: Record<string, string>,
): Promise<void> {
  await db`
    update ci_runs
    set claims = ${db.json(claims)}
    where org_id = ${org_id}
      and id = ${run_id}
      and claims is null`
}

const DAY_NUMBERS_AT_ONCE = 500

/**
 * Numbers from 1 to `max` that no run of the credential has on that day, in random order so that
 * processes rarely collide.
 */
export async function findFreeDayNumbers(
  db: Db,
  credential: { org_id: string; id: string },
  day: Date,
  max: number,
): Promise<number[]> {
  const rows = await db<{ number: number }[]>`
    select number
    from generate_series(1, ${max}::int) number
    where not exists (
      select from ci_runs
      where org_id = ${credential.org_id}
        and credential_id = ${credential.id}
        and day = ${day}
        and day_number = number
    )
    order by random()
    limit ${DAY_NUMBERS_AT_ONCE}`
  return rows.map((row) => row.number)
}

/** The repository has the name that is known now: the event may be from before it was renamed. */
export async function upsertCiRun(tx: Tx, key: ProviderRunKey, run: ProviderRun, course: RunCourse): Promise<void> {
  const { newest, updated_at } = course
  await tx`
    insert into ci_runs (
      org_id, id, provider, external_run_id, repository, commit_sha, ref, pipeline_name, event, trust, newest_attempt,
      status, url, actor, started_at, completed_at, created_at, updated_at
    )
    select ${key.org_id}, ${key.run_id}, ${run.provider}, ${run.external_run_id},
      coalesce(
        (
          select repository.host || '/' || repository.full_name
          from repositories repository
          where repository.org_id = ${key.org_id}
            and repository.provider = ${run.provider}
            and repository.id = ${run.repository_id}
        ),
        ${run.repository}
      ),
      ${run.commit_sha}, ${run.ref}, ${run.workflow_name}, ${run.event}, 'verified', ${newest.number}::smallint,
      ${newest.status}, ${newest.url}, ${newest.actor}, ${newest.started_at}::timestamptz,
      ${newest.completed_at}::timestamptz, ${run.created_at}::timestamptz, ${updated_at}::timestamptz
    on conflict (org_id, id) do update
    set repository = excluded.repository, commit_sha = excluded.commit_sha, ref = excluded.ref,
      pipeline_name = excluded.pipeline_name, event = excluded.event, newest_attempt = excluded.newest_attempt,
      status = excluded.status, url = excluded.url, actor = excluded.actor, started_at = excluded.started_at,
      completed_at = excluded.completed_at, created_at = excluded.created_at, updated_at = excluded.updated_at`
}

/** The columns of an inserted run that its caller does not know yet. */
export type InsertedRun = { id: string; linked_repository: LinkedRepository | null; stands_beside: string | null }

/**
 * Inserts runs, each with its first attempt, and returns the inserted ones. A run is left out when
 * one of its number exists or when another process has used its day number; `lockNumber` finds out
 * which.
 * Rows are inserted in a fixed order, so that two calls cannot deadlock. `orgId` is the
 * organization of all runs, or null for several.
 */
export async function insertRuns(db: Db, runs: readonly NewRun[], orgId: string | null): Promise<InsertedRun[]> {
  return isSpread() && orgId !== null ? insertOnServer(db, runs, orgId) : insertTogether(db, runs)
}

async function insertTogether(db: Db, runs: readonly NewRun[]): Promise<InsertedRun[]> {
  return db<InsertedRun[]>`
    insert into ci_runs as run (
      org_id, id, provider, ci_system, ci_instance, is_first, ci_system_name, external_run_id, repository, commit_sha, ref,
      pipeline_name, event, trust, credential_type, credential_id, credential_name, day, day_number, newest_attempt, status, url,
      actor, started_at, deadline_at, claims, claimed_provider, claimed_repository_id, created_at, updated_at
    )
    select org_id, id, provider, ci_system, ci_instance, is_first, ci_system_name, external_run_id, repository, commit_sha, ref,
      pipeline_name, event, trust, credential_type, credential_id, credential_name, created_at, day_number, number,
      status, url, actor, started_at, deadline_at, claims, claimed_provider, claimed_repository_id, created_at,
      created_at
    from json_to_recordset(${db.json(runs.map(toRecord))}::json) as given (
      org_id uuid, id text, provider text, ci_system text, ci_instance text, is_first boolean, ci_system_name text,
      external_run_id text,
      repository text, commit_sha text, ref text, pipeline_name text, event text, trust text,
      credential_type text, credential_id uuid, credential_name text, day_number smallint,
      number smallint, status text, url text, actor text, started_at timestamptz, deadline_at timestamptz,
      claims jsonb, claimed_provider text, claimed_repository_id text, created_at timestamptz
    )
    order by org_id, ci_system, external_run_id
    on conflict do nothing
    returning run.id, ${buildLinkedRepository(db, null)} as linked_repository, ${buildBeside(db, null)} as stands_beside`
}

/**
 * Citus passes rows of one organization to its server as they are. What a query makes, it collects
 * first, which takes about nine times as long.
 */
async function insertOnServer(db: Db, runs: readonly NewRun[], orgId: string): Promise<InsertedRun[]> {
  const ordered = runs.toSorted(
    (a, b) => compareTexts(a.ci_system, b.ci_system) || compareTexts(a.external_run_id, b.external_run_id),
  )
  const rows = ordered.map((run) => toRow(db, run))
  const named = runs.map(({ id, org_id, repository, claimed, ci_system, ci_instance, external_run_id, trust }) => ({
    ...{ id, org_id, repository, ci_system, ci_instance, external_run_id, trust },
    ...buildClaimed(claimed),
  }))
  const [inserted, linked] = await Promise.all([
    db<{ id: string }[]>`insert into ci_runs ${db(rows as never[])} on conflict do nothing returning id`,
    db<InsertedRun[]>`
      select run.id, ${buildLinkedRepository(db, orgId)} as linked_repository, ${buildBeside(db, orgId)} as stands_beside
      from json_to_recordset(${db.json(named)}::json) as run (
        id text, org_id uuid, repository text, ci_system text, ci_instance text, external_run_id text, trust text,
        claimed_provider text, claimed_repository_id text
      )`,
  ])
  const ids = new Set(inserted.map(({ id }) => id))
  return linked.filter(({ id }) => ids.has(id))
}

/** A run as the columns of its table. */
function toRow(db: Db, run: NewRun) {
  const { number: newest_attempt, claims, ...columns } = toRecord(run)
  const { created_at } = run
  return {
    ...columns,
    newest_attempt,
    claims: claims ? db.json(claims) : null,
    day: created_at,
    updated_at: created_at,
  }
}

/** A run as a record of JSON, with the names that `insertTogether` reads. */
function toRecord({ credential, attempt, claimed, ...run }: NewRun) {
  return {
    ...run,
    ...attempt,
    claims: claimed?.claims,
    ...buildClaimed(claimed),
    credential_type: credential.type,
    credential_id: credential.id,
    credential_name: credential.name,
  }
}

function buildClaimed(claimed: NewRun['claimed']) {
  return { claimed_provider: claimed?.provider ?? null, claimed_repository_id: claimed?.repository_id ?? null }
}

const RENAMED_AT_ONCE = 1000

/**
 * Gives the code host's runs of a repository its present name and owner, in the order of their ids
 * after `after`. Returns the last id; null when there are no more runs.
 */
export async function updateRunNames(db: Db, repository: RepositoryKey, after: string): Promise<string | null> {
  const { org_id, provider, repository_id } = repository
  const [row] = await db<{ last: string | null }[]>`
    with batch as (
      select run_id
      from provider_runs
      where org_id = ${org_id}
        and provider = ${provider}
        and repository_id = ${repository_id}
        and run_id > ${after}
      order by run_id
      limit ${RENAMED_AT_ONCE}
    ), present as (
      select host || '/' || full_name as address, owner_id
      from repositories
      where org_id = ${org_id}
        and provider = ${provider}
        and id = ${repository_id}
    ), renamed as (
      update ci_runs run
      set repository = present.address
      from batch, present
      where run.org_id = ${org_id}
        and run.id = batch.run_id
        and run.repository <> present.address
    ), transferred as (
      update provider_runs run
      set repository_owner_id = present.owner_id
      from batch, present
      where run.org_id = ${org_id}
        and run.run_id = batch.run_id
        and run.repository_owner_id <> present.owner_id
    )
    select max(run_id) as last
    from batch`
  return row?.last ?? null
}

/** An address under which runs are stored, and the one form that it has now. */
export type AddressChange = { org_id: string; from: string; to: string }

/**
 * Gives some runs of a repository the present form of its address, with their attempts and
 * artifacts. Returns how many they were.
 */
export async function updateRunAddresses(db: Db, { org_id, from, to }: AddressChange): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    with batch as (
      select id
      from ci_runs
      where org_id = ${org_id}
        and repository = ${from}
      limit ${RENAMED_AT_ONCE}
    ), renamed as (
      update ci_runs run
      set repository = ${to},
        attempt_repository = case when attempt_repository = ${from} then ${to} else attempt_repository end
      from batch
      where run.org_id = ${org_id}
        and run.id = batch.id
    ), attempts as (
      update ci_run_attempts attempt
      set repository = ${to}
      from batch
      where attempt.org_id = ${org_id}
        and attempt.run_id = batch.id
        and attempt.repository = ${from}
    ), artifacts as (
      update ci_artifacts artifact
      set claimed_repository = ${to}
      from batch
      where artifact.org_id = ${org_id}
        and artifact.run_id = batch.id
        and artifact.claimed_repository = ${from}
    )
    select count(*)::int as count
    from batch`
  return row.count
}
