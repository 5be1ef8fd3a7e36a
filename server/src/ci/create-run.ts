import type { Actor } from '../access/actor.ts'
import { useMonthly } from '../organizations/usage.store.ts'
import { MINUTE_MS, nextUtcDayStart, nextUtcMonthStart, utcMonthStart } from '../platform/clock.ts'
import { ApiError, invalidField, rateLimited } from '../platform/http/errors.ts'
import { newRunId } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { type DayNumbers, NEW_RUNS_PER_DAY_MAX } from './day-numbers.ts'
import { normalizeRepository, RepositoryAddressError } from './repository-address.ts'
import type { NewCiRun } from './run.schema.ts'
import {
  type AttemptRow,
  findAttempt,
  insertAttempt,
  insertRun,
  lockRun,
  readRun,
  type RunRow,
  updateAttempt,
} from './run.store.ts'

export type CreatedRun = { json: string; created: boolean }

/** A number can be lost to another process again and again only near the day's limit. */
const COLLISIONS_MAX = 50

/**
 * Stores a run that a CI system reports about itself. Safe to repeat and to run twice at the same instant: the same
 * (ci_system, external_run_id, attempt) is always answered with the stored run. Errors: 409 `attempt_outdated`,
 * 429 `rate_limited`.
 */
export async function createRun(services: Services, numbers: DayNumbers, actor: Actor, input: NewCiRun) {
  const now = services.clock.now()
  const repository = readRepository(input.repository)
  const credential = { orgId: actor.org_id, id: actor.credential.id }
  for (let collision = 0; collision < COLLISIONS_MAX; collision += 1) {
    const number = await numbers.take(credential, now)
    const json =
      number === null
        ? null
        : await insertNewRun(services, actor, toRun(actor, input, repository, number, now), input, now)
    if (json !== null) return { json, created: true }
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

/** One statement where the plan has no monthly limit; where it has one, the count is in the same transaction. */
async function insertNewRun(services: Services, actor: Actor, run: RunRow, input: NewCiRun, now: Date) {
  const view = { now, baseUrl: services.config.baseUrl }
  const attempt = toAttempt(input, now)
  const max = actor.plan.ci_runs_per_month_max
  if (max === null) return insertRun(services.sql, run, attempt, view)
  return services.sql.begin(async (tx) => {
    const json = await insertRun(tx, run, attempt, view)
    if (json === null) return null
    if (await useMonthly(tx, actor.org_id, { metric: 'ci_runs', amount: 1, month: utcMonthStart(now), max })) return json
    const message = `The plan ${actor.plan.name} includes ${max} runs a month.`
    throw rateLimited(message, max, nextUtcMonthStart(now), now, { reason: 'MONTHLY_RUNS' })
  })
}

/** What a POST does to a run that is stored already; null when none is. */
async function repeatRun(
  { sql, config }: Services,
  actor: Actor,
  input: NewCiRun,
  now: Date,
): Promise<CreatedRun | null> {
  return sql.begin(async (tx) => {
    const run = await lockRun(tx, actor.org_id, input.ci_system, input.external_run_id)
    if (!run) return null
    if (input.attempt < run.newest_attempt) throw attemptOutdated(input.attempt, run.newest_attempt)
    const created = input.attempt > run.newest_attempt
    if (created) await insertAttempt(tx, actor.org_id, run.id, toAttempt(input, now), now)
    else if (input.status === 'in_progress') await startQueued(tx, actor.org_id, run.id, input.attempt, now)
    const json = await readRun(tx, actor.org_id, run.id, input.attempt, { now, baseUrl: config.baseUrl })
    return { json, created }
  })
}

type Tx = Parameters<typeof lockRun>[0]

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

function toRun(actor: Actor, input: NewCiRun, repository: string, dayNumber: number, now: Date): RunRow {
  return {
    org_id: actor.org_id,
    id: newRunId(now),
    ci_system: input.ci_system,
    ci_system_name: input.ci_system_name ?? null,
    external_run_id: input.external_run_id,
    repository,
    commit_sha: input.commit_sha,
    ref: input.ref ?? null,
    pipeline_name: input.pipeline_name,
    event: input.event,
    credential: actor.credential,
    day_number: dayNumber,
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
