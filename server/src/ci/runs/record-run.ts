import type { Actor } from '../../access/actor.ts'
import { ATTEMPT_MAX } from '../../access/oidc-trusts/token-job.ts'
import { attemptOutdated, runConflict } from '../../errors/ci.ts'
import { upsertMonthlyUse } from '../../organizations/organization.store.ts'
import { getNextUtcDayStart, getNextUtcMonthStart, getUtcMonthStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createRateLimitError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import {
  type CiSystemRun,
  findRunByExternalId,
  type IdentifiedRun,
  insertRunWriter,
  lockNumber,
  lockSentRun,
  requireCiSystemRun,
} from './run.store.ts'
import { type AttemptKey, findAttempt, insertAttempt, updateAttempt } from './run-attempt.store.ts'
import { NEW_RUNS_PER_DAY_MAX, type RunIntake } from './run-intake.ts'
import { type InsertedRun, insertRuns, type NewRun, updateClaimedRun, updateInstance } from './run-row.store.ts'
import { isFinal } from './run-status.ts'
import { isSameAddress, requireOwnRepository } from './token-repository.ts'

/** What a sender and the stored run name differently. */
export type RunConflict = 'repository' | 'commit_sha'
export type CreatedRun = { run: CiSystemRun; created: boolean; conflicts: RunConflict[] }

/** A run with the attempt to store, as a credential states it. */
export type RunToStore = Omit<NewRun, 'day_number' | 'is_first'>

/** Whether the next attempt is asked for if the newest one has ended. */
type Continued = { isContinued: boolean }

/** Day numbers collide more than once or twice only when the limit of the day is near. */
const COLLISIONS_MAX = 50

/**
 * Stores a run, adds an attempt to a stored run, or returns the stored attempt. Safe to repeat and
 * to call concurrently: one (ci_system, ci_instance, external_run_id, lane, attempt) always returns
 * one run. A run that was stored without an instance is one for all that agree in repository and
 * commit. Errors: 403 `forbidden` for a run that the token may not speak about; 409
 * `attempt_outdated`, `run_conflict`; 429 `rate_limited`.
 */
export async function recordRun(
  services: Services,
  intake: RunIntake,
  actor: Actor,
  { isContinued = false, ...run }: RunToStore & Partial<Continued>,
): Promise<CreatedRun> {
  const now = run.created_at
  const credential = { org_id: actor.org_id, id: actor.credential.id }
  const taken = await takeOver(services, run)
  if (taken !== null) return taken
  for (let collision = 0; collision < COLLISIONS_MAX; collision += 1) {
    const day_number = await intake.numbers.take(credential, now)
    const first = day_number === null ? null : { ...run, day_number, is_first: true }
    const inserted = first && (await insertRun(services, intake, actor, first))
    if (inserted !== null) return { run: inserted, created: true, conflicts: [] }
    const { stored, beside } = await services.sql.begin((tx) => repeatRun(tx, actor, { run, isContinued }, day_number))
    if (beside) return { run: beside, created: true, conflicts: [] }
    if (stored && day_number !== null) intake.numbers.giveBack(credential, now, day_number)
    if (stored) return stored
    if (day_number === null) break
    intake.numbers.forget(credential, now)
  }
  const message = `The API key or OIDC trust has reached its limit of ${NEW_RUNS_PER_DAY_MAX} new runs per UTC day.`
  throw createRateLimitError(message, { limit: NEW_RUNS_PER_DAY_MAX, resetAt: getNextUtcDayStart(now), now })
}

/** Inserts a run. Where the plan has a monthly limit, the same transaction counts it. */
async function insertRun(
  { sql }: Services,
  { inserts }: RunIntake,
  actor: Actor,
  run: NewRun,
): Promise<CiSystemRun | null> {
  const isCounted = actor.plan.ci_runs_per_month_max !== null
  const inserted = isCounted ? await sql.begin((tx) => insertCounted(tx, actor, run)) : await inserts.add(run)
  return inserted && asStored(run, inserted)
}

async function insertCounted(tx: Tx, { org_id, plan }: Actor, run: NewRun): Promise<InsertedRun | null> {
  const now = run.created_at
  const max = plan.ci_runs_per_month_max
  const [inserted] = await insertRuns(tx, [run], org_id)
  if (!inserted) return null
  if (max === null) return inserted
  if (await upsertMonthlyUse(tx, org_id, { metric: 'ci_runs', amount: 1, month: getUtcMonthStart(now), max }))
    return inserted
  const message = `The organization has reached the limit of its plan ${plan.name}: ${max} new runs per month.`
  throw createRateLimitError(message, { limit: max, resetAt: getNextUtcMonthStart(now), now, reason: 'MONTHLY_RUNS' })
}

/** The inserted run as `requireCiSystemRun` would return it, without another query. */
function asStored({ trust, ...run }: NewRun, { linked_repository, stands_beside }: InsertedRun): CiSystemRun {
  const { attempt, created_at } = run
  const times = { completed_at: null, updated_at: created_at }
  const own = { own_repository: run.repository, own_commit_sha: run.commit_sha }
  return { ...run, ...attempt, ...times, ...own, trust, attempt: attempt.number, linked_repository, stands_beside }
}

type SentRun = Continued & { run: RunToStore }

/** The run that was stored before, or one that is new beside those of other servers. */
type Repeated = { stored: CreatedRun | null; beside: CiSystemRun | null }

/**
 * Adds an attempt to a stored run of the same lane, or returns the stored attempt. Where the number
 * belongs to runs of other servers, stores the run beside them, under the lock of the first one.
 * Both are null when the number is not stored, or the number of the day is used.
 */
async function repeatRun(tx: Tx, actor: Actor, sent: SentRun, day_number: number | null): Promise<Repeated> {
  const { run } = sent
  const isStored = await lockNumber(tx, run.org_id, run)
  const stored = await lockSentRun(tx, run.org_id, run)
  if (stored) return { stored: await repeatStored(tx, actor, stored, sent), beside: null }
  if (!isStored || day_number === null) return { stored: null, beside: null }
  const other = { ...run, day_number, is_first: false }
  const inserted = await insertCounted(tx, actor, other)
  return { stored: null, beside: inserted && asStored(other, inserted) }
}

async function repeatStored(
  tx: Tx,
  actor: Actor,
  stored: IdentifiedRun,
  { run, isContinued }: SentRun,
): Promise<CreatedRun> {
  refuseOther(stored, run)
  await requireOwnRepository(tx, actor, stored)
  const { status } = run.attempt
  const conflicts = listConflicts(stored, run)
  if (isContinued && conflicts.length > 0) throw runConflict()
  const { number, overdue_status } = isContinued ? await continueRun(tx, stored, run) : { ...run.attempt, ...ENDS }
  if (number < stored.newest_attempt) throw attemptOutdated(number, stored.newest_attempt)
  const now = run.created_at
  const key = { org_id: run.org_id, run_id: stored.id, attempt: number }
  const created = number > stored.newest_attempt
  if (created && run.ci_instance !== null && conflicts.includes('repository')) throw runConflict()
  await insertRunWriter(tx, key, actor.credential.id)
  if (run.ci_instance !== null && stored.ci_instance === null && conflicts.length === 0)
    await updateInstance(tx, key, run.ci_instance)
  const repository = conflicts.includes('repository') ? run.repository : null
  const commit_sha = conflicts.length > 0 ? run.commit_sha : null
  if (created) await insertAttempt(tx, key, { ...run.attempt, number, repository, commit_sha, overdue_status }, now)
  else if (status === 'in_progress') await startQueued(tx, key, now)
  return { run: await requireCiSystemRun(tx, key, now), created, conflicts }
}

const ENDS = { overdue_status: null }

/** The newest attempt, or the one after it where that has ended (ci-evidence §3). Throws 400. */
async function continueRun(tx: Tx, { id, newest_attempt }: IdentifiedRun, { org_id, created_at }: RunToStore) {
  const newest = await findAttempt(tx, { org_id, run_id: id, attempt: newest_attempt }, created_at)
  if (newest === null || !isFinal(newest.status)) return { number: newest_attempt, ...ENDS }
  if (newest_attempt >= ATTEMPT_MAX)
    throw createInvalidFieldError('/body/continue', `the run has ${ATTEMPT_MAX} attempts, which is the most`)
  return { number: newest_attempt + 1, overdue_status: newest.status }
}

/**
 * The ids of a token's repository have been compared. A commit that only one side knows is no
 * conflict.
 */
function listConflicts({ address, commit_sha }: IdentifiedRun, run: RunToStore): RunConflict[] {
  const conflicts: RunConflict[] = []
  if (run.claimed === null && !isSameAddress(address, run.repository)) conflicts.push('repository')
  if (commit_sha !== null && run.commit_sha !== null && commit_sha !== run.commit_sha) conflicts.push('commit_sha')
  return conflicts
}

/** Refuses a run of another code host or CI server that has the same number. */
function refuseOther({ repository: known, address }: IdentifiedRun, { claimed, repository, trust }: RunToStore): void {
  // A central pipeline states a verified run of another repository, without claims about it.
  if ((claimed === null) !== (known === null) && trust === 'verified') throw runConflict()
  if (claimed === null && trust === 'verified' && !isSameAddress(address, repository)) throw runConflict()
  if (claimed === null || known === null) return
  const isOnHost = claimed.host === null || known.host === claimed.host
  if (known.provider === claimed.provider && known.id === claimed.repository_id && isOnHost) return
  throw runConflict()
}

/** Takes over the run that API keys have registered under the number of a token; null if none. */
async function takeOver({ sql }: Services, run: RunToStore): Promise<CreatedRun | null> {
  if (!canTakeOver(run)) return null
  const { org_id, attempt, created_at } = run
  // What a key said of the commit does not count.
  const registered = { ...run, commit_sha: null, trust: 'self_reported' } as const
  if ((await findRunByExternalId(sql, org_id, registered)) === null) return null
  if ((await findRunByExternalId(sql, org_id, run)) !== null) return null
  return sql.begin(async (tx) => {
    await lockNumber(tx, org_id, registered)
    const stored = await lockSentRun(tx, org_id, registered)
    if (stored === null || !(await applyClaims(tx, stored, run))) return null
    const key = { org_id, run_id: stored.id, attempt: attempt.number }
    return { run: await requireCiSystemRun(tx, key, created_at), created: false, conflicts: [] }
  })
}

/** Jobs in which code of strangers may have run take nothing over: their runs stand beside. */
function canTakeOver({ claimed, trust }: RunToStore): boolean {
  return claimed !== null && trust === 'verified'
}

/**
 * Makes a locked run that only API keys have reported that of its token. Returns false if nothing
 * changed: the token has another run already, or may not take this one over.
 */
export async function applyClaims(tx: Tx, stored: IdentifiedRun, run: RunToStore): Promise<boolean> {
  const { org_id, claimed, created_at } = run
  if (claimed === null || !canTakeOver(run) || stored.repository !== null) return false
  if (stored.trust !== 'self_reported') return false
  return updateClaimedRun(tx, { org_id, id: stored.id }, { ...run, claimed }, created_at)
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
