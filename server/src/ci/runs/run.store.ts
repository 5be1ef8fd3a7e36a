import { COUNTING_PROVIDERS, listFormerAddresses } from '../../codehosts/catalogue.ts'
import { HOST_RUN_PREFIXES } from '../../codehosts/host-run.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildHolderOrder } from '../../repositories/repository.store.ts'
import {
  type AttemptKey,
  buildAttempts,
  buildCompletedAt,
  buildStatusAt,
  type StoredAttempt,
} from './run-attempt.store.ts'
import { type RunSource, TRUST_CLASSES, type TrustClass } from './trust.ts'

/** The fields that all attempts of a run share which a credential has created. */
export type RunRow = {
  org_id: string
  id: string
  provider: string
  ci_system: string
  /** The CI server or organization, as host and path. Null if the sender has named none. */
  ci_instance: string | null
  ci_system_name: string | null
  external_run_id: string
  repository: string
  commit_sha: string | null
  ref: string | null
  pipeline_name: string
  event: string
  trust: TrustClass
  credential: { type: string; id: string; name: string }
}

export type LinkedRepository = { provider: string; id: string }

/** A stored run with what identifies it. */
export type IdentifiedRun = RunSource & {
  id: string
  newest_attempt: number
  trust: TrustClass
  /** The repository as `host/owner/name`. */
  address: string
  commit_sha: string | null
}

/** SQL: the place of a class in the order of strength, 1 for the strongest. */
export function buildTrustRank(db: Db, trust: ReturnType<Db>): ReturnType<Db> {
  return db`array_position(${[...TRUST_CLASSES]}::text[], ${trust})`
}

/** Runs of each server and of each lane are runs of their own (ci-evidence §1, trust §1). */
type RunIdentity = Pick<RunRow, 'ci_system' | 'ci_instance' | 'external_run_id' | 'trust'>
type RunAsSent = RunIdentity & Pick<RunRow, 'repository' | 'commit_sha'>

/** SQL: whether the first run of the number and lane of `sent` is `run`. */
function isOfNumber(db: Db, orgId: string, sent: RunIdentity) {
  return db`
    run.org_id = ${orgId}
      and run.ci_system = ${sent.ci_system}
      and run.external_run_id = ${sent.external_run_id}
      and run.trust = ${sent.trust}`
}

/**
 * Locks the first run with the number and lane of a run until the transaction ends. Whoever has the
 * lock is alone with all runs of the number. Returns false if there is none.
 */
export async function lockNumber(tx: Tx, orgId: string, sent: RunIdentity): Promise<boolean> {
  const first = await tx`
    select
    from ci_runs run
    where ${isOfNumber(tx, orgId, sent)}
      and run.is_first
    for update`
  return first.length > 0
}

/**
 * The stored run that a sender means, locked until the transaction ends; null if there is none
 * (ci-evidence §1). A sender that names its server means the run of the server, else one without a
 * server, if repository and commit agree. One that names none means the run without, else the one
 * of the same repository and commit, else the newest.
 */
export async function lockSentRun(tx: Tx, orgId: string, sent: RunAsSent): Promise<IdentifiedRun | null> {
  const { ci_instance, repository, commit_sha } = sent
  const spellings = [repository, ...listFormerAddresses(repository).map(({ address }) => address)]
  const agrees = tx`(
    lower(run.repository) = any(${spellings.map((address) => address.toLowerCase())})
    and coalesce(run.commit_sha, ${commit_sha}::text) is not distinct from coalesce(${commit_sha}::text, run.commit_sha)
  )`
  const [row] = await tx<IdentifiedRun[]>`
    select ${identifiedColumns(tx)}
    from ci_runs run
    ${joinProviderRun(tx)}
    where ${isOfNumber(tx, orgId, sent)}
      and (
        ${ci_instance}::text is null
        or run.ci_instance = ${ci_instance}
        or (run.ci_instance is null and ${agrees})
      )
    order by run.ci_instance is not distinct from ${ci_instance}::text desc, ${agrees} desc, run.created_at desc,
      run.id desc
    limit 1
    for update of run`
  return row ?? null
}

/** Locks a run until the transaction ends. Null when it does not exist. */
export async function lockRun(tx: Tx, orgId: string, runId: string): Promise<IdentifiedRun | null> {
  const [row] = await tx<IdentifiedRun[]>`
    select ${identifiedColumns(tx)}
    from ci_runs run
    ${joinProviderRun(tx)}
    where run.org_id = ${orgId}
      and run.id = ${runId}
    for update of run`
  return row ?? null
}

/** The same without a lock. */
export async function findIdentifiedRun(db: Db, orgId: string, runId: string): Promise<IdentifiedRun | null> {
  const [row] = await db<IdentifiedRun[]>`
    select ${identifiedColumns(db)}
    from ci_runs run
    ${joinProviderRun(db)}
    where run.org_id = ${orgId}
      and run.id = ${runId}`
  return row ?? null
}

/** The run with a number of a server, or else of no server that is known, without a lock. */
export async function findRunByExternalId(db: Db, orgId: string, sent: RunIdentity): Promise<IdentifiedRun | null> {
  const { ci_instance } = sent
  const [row] = await db<IdentifiedRun[]>`
    select ${identifiedColumns(db)}
    from ci_runs run
    ${joinProviderRun(db)}
    where ${isOfNumber(db, orgId, sent)}
      and (${ci_instance}::text is null or run.ci_instance is null or run.ci_instance = ${ci_instance})
    order by run.ci_instance is not distinct from ${ci_instance}::text desc, run.created_at desc, run.id desc
    limit 1`
  return row ?? null
}

function identifiedColumns(db: Db) {
  return db`
    run.id, run.newest_attempt, run.trust, run.provider, run.ci_system, run.ci_instance, run.external_run_id,
    run.repository as address, run.commit_sha,
    case when coalesce(run.claimed_repository_id, provider_run.repository_id) is not null then
      json_build_object(
        'provider', coalesce(run.claimed_provider, provider_run.provider),
        'id', coalesce(run.claimed_repository_id, provider_run.repository_id),
        'host', split_part(run.repository, '/', 1)
      )
    end as repository,
    provider_run.head_repository_id`
}

function joinProviderRun(db: Db) {
  return db`
    left join provider_runs provider_run on provider_run.org_id = run.org_id and provider_run.run_id = run.id`
}

type RunName = { org_id: string; run_id: string }

/** Notes that a credential states something about a run. */
export async function insertRunWriter(tx: Tx, { org_id, run_id }: RunName, credentialId: string) {
  await tx`
    insert into ci_run_writers (org_id, run_id, credential_id)
    values (${org_id}, ${run_id}, ${credentialId})
    on conflict do nothing`
}

/** The credentials that created a run or stated something about it. */
export async function listRunCredentials(db: Db, orgId: string, runId: string): Promise<string[]> {
  const rows = await db<{ credential_id: string }[]>`
    select credential_id
    from ci_runs
    where org_id = ${orgId}
      and id = ${runId}
      and credential_id is not null
    union
    select credential_id
    from ci_run_writers
    where org_id = ${orgId}
      and run_id = ${runId}`
  return rows.map(({ credential_id }) => credential_id)
}

/** The number of runs that credentials have created since a time. */
export async function countCreatedRuns(db: Db, orgId: string, since: Date): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from ci_runs
    where org_id = ${orgId}
      and created_at >= ${since}
      and provider = 'other'`
  return row.count
}

/**
 * A run with one of its attempts, at a certain time. A run of a code host has no CI system,
 * deadline or credential.
 */
export type StoredRun = Omit<RunRow, 'org_id' | 'ci_system' | 'credential'> &
  Omit<StoredAttempt, 'deadline_at' | 'trust'> & {
    ci_system: string | null
    deadline_at: Date | null
    attempt: number
    /** What the attempt is about: `host/owner/name` and commit, which can differ from the run's. */
    own_repository: string
    own_commit_sha: string | null
    linked_repository: LinkedRepository | null
    stands_beside: string | null
    credential: RunRow['credential'] | null
    created_at: Date
    updated_at: Date
  }

/** A run as createCiRun and updateCiRun return it. */
export type CiSystemRun = StoredRun & { ci_system: string }

/** A run with one of its attempts, which was stored before, at `now`. */
export async function requireStoredRun(db: Db, key: AttemptKey, now: Date): Promise<StoredRun> {
  const run = await findRun(db, key, now)
  if (run === null) throw new Error(`Attempt ${key.attempt} of the run ${key.run_id} is not stored.`)
  return run
}

/** The same for a run that a credential has created. */
export async function requireCiSystemRun(db: Db, key: AttemptKey, now: Date): Promise<CiSystemRun> {
  return (await requireStoredRun(db, key, now)) as CiSystemRun
}

/** A run with one of its attempts, at `now`; null when the run or the attempt does not exist. */
export async function findRun(db: Db, key: AttemptKey, now: Date): Promise<StoredRun | null> {
  const [row] = await db<StoredRun[]>`
    select run.id, run.provider, run.ci_system, run.ci_instance, run.ci_system_name, run.external_run_id,
      attempt.number as attempt, coalesce(attempt.repository, run.repository) as own_repository,
      coalesce(attempt.commit_sha, run.commit_sha) as own_commit_sha, run.repository, run.commit_sha, run.ref, run.pipeline_name, attempt.url,
      ${buildStatusAt(db, 'attempt', now)} as status, attempt.started_at, ${buildCompletedAt(db, 'attempt', now)} as completed_at,
      attempt.actor, run.event, attempt.deadline_at, run.trust, ${buildLinkedRepository(db, key.org_id)} as linked_repository,
      ${buildBeside(db, key.org_id)} as stands_beside,
      case when run.credential_id is not null then
        json_build_object('type', run.credential_type, 'id', run.credential_id, 'name', run.credential_name)
      end as credential,
      run.created_at, run.updated_at
    from ci_runs run
    cross join ${buildAttempts(db, key.org_id, key.run_id)} attempt
    where run.org_id = ${key.org_id}
      and run.id = ${key.run_id}
      and attempt.number = ${key.attempt}`
  return row ?? null
}

/**
 * SQL: the id of the most trustworthy run of another lane with the number of `run` on its server,
 * or of the run of the code host with that number and repository; null if there is none. `orgId` is
 * the organization of all rows of `run`, or null for several.
 */
export function buildBeside(db: Db, orgId: string | null) {
  return db`(
    select other.id
    from ci_runs other
    where other.org_id = run.org_id ${buildSpreadCondition(db, 'other', orgId)}
      and (
        (
          other.ci_system = run.ci_system and other.external_run_id = run.external_run_id and other.trust <> run.trust
          and coalesce(other.ci_instance, run.ci_instance) is not distinct from coalesce(run.ci_instance, other.ci_instance)
        )
        or (
          other.id = (${db.json(HOST_RUN_PREFIXES)}::jsonb ->> run.ci_system) || run.external_run_id
          and other.provider <> 'other'
          and lower(other.repository) = lower(run.repository)
        )
      )
    order by ${buildTrustRank(db, db`other.trust`)}, other.provider = 'other'
    limit 1
  )`
}

/** SQL: the lane of a run, which is its trust. */
export function buildRunLane(db: Db, { org_id, run_id }: { org_id: string; run_id: string }) {
  return db`(select trust from ci_runs where org_id = ${org_id} and id = ${run_id})`
}

/** SQL: whether a run satisfies a condition on `run`. */
export function buildRunExists(db: Db, key: { org_id: string; run_id: string }, condition: ReturnType<Db>) {
  return db`exists (select from ci_runs run where run.org_id = ${key.org_id} and run.id = ${key.run_id} and ${condition})`
}

/**
 * SQL: the repository of an attempt, as `host/owner/name`. `alias` has its `pipeline_run_id` and
 * `attempt`.
 */
export function buildAttemptRepository(db: Db, orgId: string, alias: string) {
  return buildAttemptFact(db, orgId, alias, db`coalesce(attempt.repository, run.repository)`)
}

/** SQL: an expression of the rows `run` and `attempt` of such an alias. */
export function buildAttemptFact(db: Db, orgId: string, alias: string, fact: object) {
  const of = db(alias)
  return db`(
    select ${fact as ReturnType<Db>}
    from ci_runs run
    left join ci_run_attempts attempt
      on attempt.org_id = ${orgId} and attempt.run_id = run.id and attempt.number = ${of}.attempt
    where run.org_id = ${orgId}
      and run.id = ${of}.pipeline_run_id
  )`
}

/**
 * SQL: the repository of a run at a provider, or null. A token names it by its id; otherwise it is
 * the one with the host and name of `run.repository`. Some code hosts number the repositories of
 * each server from 1: theirs must have the host of the run, too. `orgId` is the organization of all
 * rows of `run`, or null for several.
 */
export function buildLinkedRepository(db: Db, orgId: string | null) {
  const object: ReturnType<Db> = db`json_build_object('provider', repository.provider, 'id', repository.id)`
  return db`
    case when run.claimed_provider is null then (
      select ${object}
      from repositories repository
      where repository.org_id = run.org_id ${buildSpreadCondition(db, 'repository', orgId)}
        and repository.host = split_part(run.repository, '/', 1)
        and lower(repository.full_name) = lower(substr(run.repository, strpos(run.repository, '/') + 1))
      order by ${buildHolderOrder(db)}
      limit 1
    ) else (
      select ${object}
      from repositories repository
      where repository.org_id = run.org_id ${buildSpreadCondition(db, 'repository', orgId)}
        and repository.provider = run.claimed_provider
        and repository.id = run.claimed_repository_id
        and (
          run.claimed_provider <> all(${COUNTING_PROVIDERS}) or repository.host = split_part(run.repository, '/', 1)
        )
    ) end`
}

/**
 * SQL: true for a run that has not ended, or had not at `since`, or whose deployment is stored:
 * what runs now is not old (decisions §4).
 */
export function buildIsOpenRun(db: Db, run: ReturnType<Db>, since: Date): ReturnType<Db> {
  return db`(
    coalesce(${run}.completed_at, ${run}.deadline_at, 'infinity') >= ${since}
    or exists (
      select from deployments of_run
      where of_run.org_id = ${run}.org_id
        and of_run.pipeline_run_id = ${run}.id
    )
  )`
}
