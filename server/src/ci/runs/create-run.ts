import type { Actor } from '../../access/actor.ts'
import { useMonthly } from '../../organizations/usage.store.ts'
import { MINUTE_MS, nextUtcDayStart, nextUtcMonthStart, utcMonthStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, invalidField, rateLimited } from '../../platform/http/errors.ts'
import { newRunId } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import type { AttemptKey } from './attempt-deadline.store.ts'
import { type InsertedRun, insertRuns, type NewRun } from './new-run.store.ts'
import { normalizeRepository, RepositoryAddressError } from './repository-address.ts'
import type { NewCiRun } from './run.schema.ts'
import { lockRun, readSelfReportedRun, type SelfReportedRun } from './run.store.ts'
import { type AttemptRow, findAttempt, insertAttempt, updateAttempt } from './run-attempt.store.ts'
import { NEW_RUNS_PER_DAY_MAX, type RunIntake } from './run-intake.ts'

type CreatedRun = { run: SelfReportedRun; created: boolean }

/** Day numbers collide more than once or twice only when the limit of the day is near. */
const COLLISIONS_MAX = 50

/**
 * Creates a run, adds an attempt to a stored run, or returns the stored attempt. Safe to repeat and
 * to call concurrently: the same (ci_system, external_run_id, attempt) always returns the same run.
 * Errors: 400 `invalid_request` for the repository; 409 `attempt_outdated`; 429 `rate_limited`.
 */
export async function createRun(
  services: Services,
  intake: RunIntake,
  actor: Actor,
  input: NewCiRun,
): Promise<CreatedRun> {
  const now = services.clock.now()
  const run = toRun(actor, input, now)
  const credential = { org_id: actor.org_id, id: actor.credential.id }
  for (let collision = 0; collision < COLLISIONS_MAX; collision += 1) {
    const day_number = await intake.numbers.take(credential, now)
    const inserted = day_number === null ? null : await insertRun(services, intake, actor, { ...run, day_number })
    if (inserted !== null) return { run: inserted, created: true }
    const stored = await repeatRun(services, actor, input, now)
    if (stored && day_number !== null) intake.numbers.giveBack(credential, now, day_number)
    if (stored) return stored
    if (day_number === null) break
    intake.numbers.forget(credential, now)
  }
  const message = `The key has reached its limit of ${NEW_RUNS_PER_DAY_MAX} new runs per UTC day.`
  throw rateLimited(message, { limit: NEW_RUNS_PER_DAY_MAX, resetAt: nextUtcDayStart(now), now })
}

/** Inserts a run. Where the plan has a monthly limit, the same transaction counts it. */
async function insertRun(
  { sql }: Services,
  { inserts }: RunIntake,
  actor: Actor,
  run: NewRun,
): Promise<SelfReportedRun | null> {
  const max = actor.plan.ci_runs_per_month_max
  const inserted = max === null ? await inserts.add(run) : await sql.begin((tx) => insertCounted(tx, actor, run, max))
  return inserted && asStored(run, inserted)
}

async function insertCounted(tx: Tx, { org_id, plan }: Actor, run: NewRun, max: number): Promise<InsertedRun | null> {
  const now = run.created_at
  const [inserted] = await insertRuns(tx, [run])
  if (!inserted) return null
  if (await useMonthly(tx, org_id, { metric: 'ci_runs', amount: 1, month: utcMonthStart(now), max })) return inserted
  const message = `The organization has reached the limit of its plan ${plan.name}: ${max} new runs per month.`
  throw rateLimited(message, { limit: max, resetAt: nextUtcMonthStart(now), now, reason: 'MONTHLY_RUNS' })
}

/** The inserted run as `readSelfReportedRun` would return it, without another query. */
function asStored(run: NewRun, { linked_repository }: InsertedRun): SelfReportedRun {
  const { attempt, created_at } = run
  return { ...run, ...attempt, attempt: attempt.number, completed_at: null, linked_repository, updated_at: created_at }
}

/**
 * Adds an attempt to a stored run, or returns the stored attempt; null when the run is not stored.
 */
async function repeatRun({ sql }: Services, actor: Actor, input: NewCiRun, now: Date): Promise<CreatedRun | null> {
  return sql.begin(async (tx) => {
    const run = await lockRun(tx, actor.org_id, input.ci_system, input.external_run_id)
    if (!run) return null
    if (input.attempt < run.newest_attempt) throw attemptOutdated(input.attempt, run.newest_attempt)
    const key = { org_id: actor.org_id, run_id: run.id, attempt: input.attempt }
    const created = input.attempt > run.newest_attempt
    if (created) await insertAttempt(tx, key, toAttempt(input, now), now)
    else if (input.status === 'in_progress') await startQueued(tx, key, now)
    return { run: await readSelfReportedRun(tx, key, now), created }
  })
}

/**
 * Changes `queued` to `in_progress`; every other field of the repeated body is ignored (decisions
 * §5).
 */
async function startQueued(tx: Tx, key: AttemptKey, now: Date): Promise<void> {
  const attempt = await findAttempt(tx, key, now)
  if (attempt?.status !== 'queued') return
  await updateAttempt(tx, key, { ...attempt, status: 'in_progress' }, now)
}

function attemptOutdated(attempt: number, newest: number): ApiError {
  const message = `Attempt ${attempt} is lower than the newest attempt of the run, ${newest}.`
  return new ApiError(409, 'attempt_outdated', message, { newestAttempt: newest })
}

function toRun(actor: Actor, input: NewCiRun, now: Date): Omit<NewRun, 'day_number'> {
  return {
    org_id: actor.org_id,
    id: newRunId(now),
    provider: 'other',
    ci_system: input.ci_system,
    ci_system_name: input.ci_system_name ?? null,
    external_run_id: input.external_run_id,
    repository: readRepository(input.repository),
    commit_sha: input.commit_sha,
    ref: input.ref ?? null,
    pipeline_name: input.pipeline_name,
    event: input.event,
    trust: 'self_reported',
    credential: actor.credential,
    attempt: toAttempt(input, now),
    created_at: now,
  }
}

function readRepository(address: string): string {
  try {
    return normalizeRepository(address)
  } catch (error) {
    if (error instanceof RepositoryAddressError) throw invalidField('/body/repository', error.message)
    throw error
  }
}

function toAttempt(input: NewCiRun, now: Date): AttemptRow {
  return {
    number: input.attempt,
    status: input.status,
    url: input.url ?? null,
    actor: input.actor ?? null,
    started_at: input.started_at === undefined ? now : new Date(input.started_at),
    deadline_at: new Date(now.getTime() + input.timeout_minutes * MINUTE_MS),
  }
}
