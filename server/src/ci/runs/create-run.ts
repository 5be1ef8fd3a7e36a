import type { Actor } from '../../access/actor.ts'
import { useMonthly } from '../../organizations/usage.store.ts'
import { MINUTE_MS, nextUtcDayStart, nextUtcMonthStart, utcMonthStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, invalidField, rateLimited } from '../../platform/http/errors.ts'
import { newRunId } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { NEW_RUNS_PER_DAY_MAX } from './day-numbers.ts'
import { type InsertedRun, insertRuns, type NewRun } from './new-run.store.ts'
import { normalizeRepository, RepositoryAddressError } from './repository-address.ts'
import type { NewCiRun } from './run.schema.ts'
import { lockRun, readRun, type StoredRun } from './run.store.ts'
import { type AttemptRow, findAttempt, insertAttempt, updateAttempt } from './run-attempt.store.ts'
import type { RunIntake } from './run-intake.ts'

export type CreatedRun = { run: StoredRun; created: boolean }

/** A number can be lost to another process again and again only near the day's limit. */
const COLLISIONS_MAX = 50

/**
 * Stores a run that a CI system reports about itself. Safe to repeat and to run twice at the same instant: the same
 * (ci_system, external_run_id, attempt) is always answered with the stored run. Errors: 409 `attempt_outdated`,
 * 429 `rate_limited`.
 */
export async function createRun(services: Services, intake: RunIntake, actor: Actor, input: NewCiRun) {
  const now = services.clock.now()
  const repository = readRepository(input.repository)
  const credential = { orgId: actor.org_id, id: actor.credential.id }
  const { numbers } = intake
  for (let collision = 0; collision < COLLISIONS_MAX; collision += 1) {
    const number = await numbers.take(credential, now)
    const run =
      number === null ? null : await insertRun(services, intake, actor, toRun(actor, input, repository, number, now))
    if (run !== null) return { run, created: true }
    const stored = await repeatRun(services, actor, input, now)
    if (stored && number !== null) numbers.giveBack(credential, now, number)
    if (stored) return stored
    if (number === null) break
    numbers.forget(credential, now)
  }
  throw rateLimited(
    `This key has reported its ${NEW_RUNS_PER_DAY_MAX} new runs of the day.`,
    NEW_RUNS_PER_DAY_MAX,
    nextUtcDayStart(now),
    now,
  )
}

function readRepository(address: string): string {
  try {
    return normalizeRepository(address)
  } catch (error) {
    if (error instanceof RepositoryAddressError) throw invalidField('/body/repository', error.message)
    throw error
  }
}

/** Where the plan has a monthly limit, the count is in the same transaction. */
async function insertRun(
  { sql }: Services,
  { inserts }: RunIntake,
  actor: Actor,
  run: NewRun,
): Promise<StoredRun | null> {
  const max = actor.plan.ci_runs_per_month_max
  const inserted = max === null ? await inserts.add(run) : await sql.begin((tx) => insertCounted(tx, actor, run, max))
  return inserted && asStored(run, inserted)
}

async function insertCounted(tx: Tx, { org_id, plan }: Actor, run: NewRun, max: number): Promise<InsertedRun | null> {
  const now = run.created_at
  const [inserted] = await insertRuns(tx, [run])
  if (!inserted) return null
  if (await useMonthly(tx, org_id, { metric: 'ci_runs', amount: 1, month: utcMonthStart(now), max })) return inserted
  const message = `The plan ${plan.name} includes ${max} runs a month.`
  throw rateLimited(message, max, nextUtcMonthStart(now), now, { reason: 'MONTHLY_RUNS' })
}

/** What reading the run back would say. */
function asStored(run: NewRun, { linked_repository }: InsertedRun): StoredRun {
  const { attempt, created_at } = run
  return { ...run, ...attempt, attempt: attempt.number, completed_at: null, linked_repository, updated_at: created_at }
}

/** What a POST does to a run that is stored already; null when none is. */
async function repeatRun({ sql }: Services, actor: Actor, input: NewCiRun, now: Date): Promise<CreatedRun | null> {
  return sql.begin(async (tx) => {
    const run = await lockRun(tx, actor.org_id, input.ci_system, input.external_run_id)
    if (!run) return null
    if (input.attempt < run.newest_attempt) throw attemptOutdated(input.attempt, run.newest_attempt)
    const created = input.attempt > run.newest_attempt
    if (created) await insertAttempt(tx, actor.org_id, run.id, toAttempt(input, now), now)
    else if (input.status === 'in_progress') await startQueued(tx, actor.org_id, run.id, input.attempt, now)
    return { run: await readRun(tx, actor.org_id, run.id, input.attempt, now), created }
  })
}

/** queued → in_progress; every other field of the repeated body is ignored (decisions §5). */
async function startQueued(tx: Tx, orgId: string, runId: string, number: number, now: Date): Promise<void> {
  const attempt = await findAttempt(tx, orgId, runId, number, now)
  if (attempt?.status !== 'queued') return
  await updateAttempt(tx, orgId, runId, number, { ...attempt, status: 'in_progress' }, now)
}

function attemptOutdated(attempt: number, newest: number): ApiError {
  const message = `Attempt ${attempt} is older than the run's newest, ${newest}.`
  return new ApiError(409, 'attempt_outdated', message, { newestAttempt: newest })
}

function toRun(actor: Actor, input: NewCiRun, repository: string, dayNumber: number, now: Date): NewRun {
  return {
    org_id: actor.org_id,
    id: newRunId(now),
    provider: 'other',
    ci_system: input.ci_system,
    ci_system_name: input.ci_system_name ?? null,
    external_run_id: input.external_run_id,
    repository,
    commit_sha: input.commit_sha,
    ref: input.ref ?? null,
    pipeline_name: input.pipeline_name,
    event: input.event,
    trust: 'self_reported',
    credential: actor.credential,
    day_number: dayNumber,
    attempt: toAttempt(input, now),
    created_at: now,
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
