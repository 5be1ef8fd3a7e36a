import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, invalidField, notFound } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import type { CiRunUpdate } from './run.schema.ts'
import { lockRunById, readRun } from './run.store.ts'
import { type AttemptChange, findAttempt, type StoredAttempt, updateAttempt } from './run-attempt.store.ts'
import { runFinished } from './run-finished.event.ts'
import { isFinal } from './run-status.ts'

/**
 * Changes one attempt of a run, the newest unless `attempt` names another, and returns the run. A finished
 * attempt stays as it is: 409 `run_finished`, unless the body says only what is stored already.
 */
export async function updateRun({ sql, clock }: Services, actor: Actor, runId: string, input: CiRunUpdate) {
  const now = clock.now()
  return sql.begin(async (tx) => {
    const newest = await lockRunById(tx, actor.org_id, runId)
    if (newest === null) throw notFound('run')
    const number = input.attempt ?? newest
    const attempt = await findAttempt(tx, actor.org_id, runId, number, now)
    if (!attempt) throw notFound(`attempt ${number} of the run`)
    const change = isFinal(attempt.status) ? keepFinished(attempt, input) : changeOpen(attempt, input, now)
    if (change) await storeChange(tx, { org_id: actor.org_id, run_id: runId, attempt: number }, change, now)
    return readRun(tx, actor.org_id, runId, number, now)
  })
}

type AttemptName = { org_id: string; run_id: string; attempt: number }

async function storeChange(tx: Tx, name: AttemptName, change: AttemptChange, now: Date): Promise<void> {
  await updateAttempt(tx, name.org_id, name.run_id, name.attempt, change, now)
  if (isFinal(change.status)) await publish(tx, runFinished, { ...name, status: change.status })
}

function keepFinished(attempt: StoredAttempt, input: CiRunUpdate): null {
  const unchanged = input.status === undefined ? saysNothingNew(attempt, input) : input.status === attempt.status
  if (unchanged) return null
  const message = `The attempt has finished as ${attempt.status} and cannot change.`
  throw new ApiError(409, 'run_finished', message, { status: attempt.status })
}

function saysNothingNew(attempt: StoredAttempt, { url, completed_at }: CiRunUpdate): boolean {
  const sameUrl = url === undefined || url === attempt.url
  return sameUrl && (completed_at === undefined || Date.parse(completed_at) === attempt.completed_at?.getTime())
}

function changeOpen(attempt: StoredAttempt, input: CiRunUpdate, now: Date): AttemptChange | null {
  if (input.status === undefined && input.url === undefined && input.completed_at === undefined) return null
  const status = input.status ?? attempt.status
  const change = { status, url: input.url ?? attempt.url }
  if (isFinal(status)) return { ...change, completed_at: completionTime(attempt, input, now) }
  if (input.completed_at === undefined) return { ...change, completed_at: null }
  throw invalidField('/body/completed_at', 'goes with a final status only')
}

/** The server's now where the client names no time; a start in the future (another clock) moves it. */
function completionTime(attempt: StoredAttempt, { completed_at }: CiRunUpdate, now: Date): Date {
  if (completed_at === undefined) return now > attempt.started_at ? now : attempt.started_at
  const completedAt = new Date(completed_at)
  if (completedAt >= attempt.started_at) return completedAt
  throw invalidField('/body/completed_at', 'is before started_at')
}
