import type { Actor } from '../../access/actor.ts'
import { otherLane, runAlreadyFinished } from '../../errors/ci.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import { runFinished } from './run.events.ts'
import type { CiRunUpdate } from './run.schema.ts'
import { type CiSystemRun, findRun, insertRunWriter, requireCiSystemRun } from './run.store.ts'
import {
  type AttemptChange,
  type AttemptKey,
  findAttempt,
  type StoredAttempt,
  updateAttempt,
} from './run-attempt.store.ts'
import { isFinal } from './run-status.ts'
import { getTokenJob, requireOwnAttempt, requireOwnRepository } from './token-repository.ts'
import { lockAnyRunFor, type RunToChange, selectAttempt, toCiSystemRun } from './token-run.ts'
import { isOwnRun, isWeaker } from './trust.ts'

/**
 * Updates one attempt of a run, by default the newest, and returns the run with that attempt. A run
 * of a code host is changed by its code host only, so that its own token gets it unchanged. Errors:
 * 400 `invalid_request` for completed_at and attempt; 404 for an unknown run or attempt, and for
 * another run of a code host; 409 `run_finished` for a change of a finished attempt; then 403
 * `forbidden` for a token that may not speak about the run, and 403 `other_lane`.
 */
export async function updateRun(
  { sql, clock }: Services,
  actor: Actor,
  runId: string,
  input: CiRunUpdate,
): Promise<CiSystemRun> {
  const now = clock.now()
  return sql.begin(async (tx) => {
    const run = await lockAnyRunFor(tx, actor, runId, now)
    if (run === null) throw createNotFoundError('run')
    const key = { org_id: actor.org_id, run_id: runId, attempt: selectAttempt(actor, run, input.attempt) }
    if (run.provider !== 'other') return readHostRun(tx, actor, { run, key }, now)
    const attempt = await findAttempt(tx, key, now)
    if (!attempt) throw createNotFoundError(`attempt with the number ${key.attempt}`)
    if (isFinal(attempt.status)) refuseChange(attempt, input)
    await requireOwnRepository(tx, actor, run)
    await requireOwnAttempt(tx, actor, run, attempt.repository)
    const change = isFinal(attempt.status) ? null : attemptChange(attempt, input, now)
    if (change !== null) await changeOpen(tx, { key, run, attempt }, { actor, change }, now)
    return requireCiSystemRun(tx, key, now)
  })
}

async function readHostRun(
  tx: Tx,
  actor: Actor,
  { run, key }: Omit<OpenAttempt, 'attempt'>,
  now: Date,
): Promise<CiSystemRun> {
  const job = getTokenJob(actor)
  if (job === null || !isOwnRun(job, run)) throw createNotFoundError('run')
  const found = await findRun(tx, key, now)
  if (found === null) throw createNotFoundError(`attempt with the number ${key.attempt}`)
  return toCiSystemRun(found, job)
}

/** Throws 409 unless the body repeats what is stored. */
function refuseChange(attempt: StoredAttempt, { status, url, completed_at }: CiRunUpdate): void {
  const isSameUrl = url === undefined || url === attempt.url
  const isSameEnd = completed_at === undefined || Date.parse(completed_at) === attempt.completed_at?.getTime()
  if (status === undefined ? isSameUrl && isSameEnd : status === attempt.status) return
  const message = `The attempt has finished with the status ${attempt.status} and cannot change. Create a new attempt.`
  throw runAlreadyFinished(message, { status: attempt.status })
}

type OpenAttempt = { key: AttemptKey; run: RunToChange; attempt: StoredAttempt }

/**
 * Throws 403 `other_lane` for a change by a credential that can be trusted less than who stated the
 * attempt.
 */
async function changeOpen(
  tx: Tx,
  { key, run, attempt }: OpenAttempt,
  { actor, change }: { actor: Actor; change: AttemptChange },
  now: Date,
): Promise<void> {
  if (isWeaker(run.stated, attempt.trust))
    throw otherLane('The attempt was stated by a credential that can be trusted more')
  await insertRunWriter(tx, key, actor.credential.id)
  await updateAttempt(tx, key, change, now)
  if (isFinal(change.status)) await publish(tx, runFinished, { ...key, status: change.status })
}

/** The change that the body contains; null if it contains none. */
function attemptChange(attempt: StoredAttempt, input: CiRunUpdate, now: Date): AttemptChange | null {
  if (input.status === undefined && input.url === undefined && input.completed_at === undefined) return null
  const status = input.status ?? attempt.status
  const change = { status, url: input.url ?? attempt.url }
  if (isFinal(status)) return { ...change, completed_at: completionTime(attempt, input, now) }
  if (input.completed_at === undefined) return { ...change, completed_at: null }
  throw createInvalidFieldError('/body/completed_at', 'requires a final status')
}

/** Defaults to now, or to started_at where that is in the future because the clocks differ. */
function completionTime(attempt: StoredAttempt, { completed_at }: CiRunUpdate, now: Date): Date {
  if (completed_at === undefined) return now > attempt.started_at ? now : attempt.started_at
  const completedAt = new Date(completed_at)
  if (completedAt >= attempt.started_at) return completedAt
  throw createInvalidFieldError('/body/completed_at', 'must not be before started_at')
}
