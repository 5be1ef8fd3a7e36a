import { type Static, Type } from 'typebox'
import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, invalidField, notFound } from '../../platform/http/errors.ts'
import { OneOf } from '../../platform/http/schemas.ts'
import { type Event, publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import type { AttemptKey } from './attempt-deadline.store.ts'
import type { CiRunUpdate } from './run.schema.ts'
import { lockSelfReportedRun, readSelfReportedRun, type SelfReportedRun } from './run.store.ts'
import { type AttemptChange, findAttempt, type StoredAttempt, updateAttempt } from './run-attempt.store.ts'
import { isFinal, RUN_STATUSES } from './run-status.ts'

const Payload = Type.Object({
  org_id: Type.String(),
  run_id: Type.String(),
  attempt: Type.Integer(),
  status: OneOf(RUN_STATUSES),
})

export type RunFinished = Static<typeof Payload>

/**
 * Published when an attempt reaches a final status, by an update or because its deadline has
 * passed.
 */
export const runFinished: Event<RunFinished> = { name: 'ci.run.finished', payload: Payload }

/**
 * Updates one attempt of a run, by default the newest, and returns the run with that attempt.
 * Errors: 400 `invalid_request` for completed_at; 404 for an unknown run or attempt, and for a
 * run of a code host; 409 `run_finished` for a change of a finished attempt.
 */
export async function updateRun(
  { sql, clock }: Services,
  actor: Actor,
  runId: string,
  input: CiRunUpdate,
): Promise<SelfReportedRun> {
  const now = clock.now()
  return sql.begin(async (tx) => {
    const newest = await lockSelfReportedRun(tx, actor.org_id, runId)
    if (newest === null) throw notFound('run')
    const key = { org_id: actor.org_id, run_id: runId, attempt: input.attempt ?? newest }
    const attempt = await findAttempt(tx, key, now)
    if (!attempt) throw notFound(`attempt with the number ${key.attempt}`)
    if (isFinal(attempt.status)) refuseChange(attempt, input)
    else await changeOpen(tx, key, attemptChange(attempt, input, now), now)
    return readSelfReportedRun(tx, key, now)
  })
}

/** Throws 409 unless the body repeats what is stored. */
function refuseChange(attempt: StoredAttempt, input: CiRunUpdate): void {
  if (input.status === undefined ? isRepetition(attempt, input) : input.status === attempt.status) return
  const message = `The attempt has finished with the status ${attempt.status} and cannot change. Create a new attempt.`
  throw new ApiError(409, 'run_finished', message, { status: attempt.status })
}

function isRepetition(attempt: StoredAttempt, { url, completed_at }: CiRunUpdate): boolean {
  const sameUrl = url === undefined || url === attempt.url
  return sameUrl && (completed_at === undefined || Date.parse(completed_at) === attempt.completed_at?.getTime())
}

async function changeOpen(tx: Tx, key: AttemptKey, change: AttemptChange | null, now: Date): Promise<void> {
  if (change === null) return
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
  throw invalidField('/body/completed_at', 'requires a final status')
}

/** Defaults to now, or to started_at where that is in the future because the clocks differ. */
function completionTime(attempt: StoredAttempt, { completed_at }: CiRunUpdate, now: Date): Date {
  if (completed_at === undefined) return now > attempt.started_at ? now : attempt.started_at
  const completedAt = new Date(completed_at)
  if (completedAt >= attempt.started_at) return completedAt
  throw invalidField('/body/completed_at', 'must not be before started_at')
}
