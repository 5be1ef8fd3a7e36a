import { DAY_MS } from '../platform/clock.ts'
import type { Sql } from '../platform/db/sql.ts'
import { findQueueStatus, isQueueMissing, listScheduledRuns } from '../platform/queue/queue.store.ts'
import { findState, listRemoved } from '../retention/retention.store.ts'
import type { Services } from '../services.ts'
import { type Check, MIGRATE_FIRST, type Result } from './doctor-finding.ts'

/** When a job has been due for this long, no worker is running. */
const WAIT_MS_MAX = 10 * 60_000
/** A daily run of retention has been missed, and so has the one after the start. */
const RETENTION_LATE_MS = 2 * DAY_MS

export const QUEUE_CHECKS: readonly Check[] = [
  { check: 'worker', examine: unlessMissing(checkQueue) },
  { check: 'sweepers', examine: unlessMissing(checkSweepers) },
  { check: 'retention', examine: checkRetention },
]

function unlessMissing(examine: Check['examine']): Check['examine'] {
  return async (services) => ((await isQueueMissing(services.sql)) ? MIGRATE_FIRST : examine(services))
}

async function checkQueue({ sql }: { sql: Sql }): Promise<Result> {
  const { waiting, running, failed, failed_names, oldest_age_ms } = await findQueueStatus(sql)
  const problems = [
    ...(oldest_age_ms > WAIT_MS_MAX ? ['no worker is running'] : []),
    ...(failed > 0 ? [`${failed} jobs have failed and are not tried again: ${failed_names.join(', ')}`] : []),
  ]
  const oldestSeconds = Math.round(oldest_age_ms / 1000)
  const state = `${waiting} jobs are waiting, the oldest for ${oldestSeconds} s; ${running} are running`
  return { ok: problems.length === 0, detail: [state, ...problems].join('; ') }
}

/** Never fails the installation: scheduled jobs run only while a worker runs. */
async function checkSweepers({ sql, clock }: Services): Promise<Result> {
  const runs = await listScheduledRuns(sql)
  const details = runs.map(({ name, last_execution }) => `${name} ${lastRun(last_execution, clock.now())}`)
  return { ok: true, detail: details.length > 0 ? details.join(', ') : 'no worker has run yet' }
}

/** The figures of the last removal of what has expired. */
async function checkRetention({ sql, clock }: Services): Promise<Result> {
  const state = await findState(sql)
  if (state === null) return { ok: true, detail: 'has not run yet; a worker runs it daily' }
  const { started_at, finished_at, is_finished } = state
  const removed = (await listRemoved(sql)).reduce((total, kind) => total + kind.removed_in_run, 0)
  const ok = clock.now().getTime() - (finished_at ?? started_at).getTime() <= RETENTION_LATE_MS
  const last = is_finished ? `last run ended ${finished_at?.toJSON()}` : `running since ${started_at.toJSON()}`
  return { ok, detail: `${last}, ${removed} rows removed${ok ? '' : '; it is overdue'}` }
}

function lastRun(at: Date | null, now: Date): string {
  return at === null ? 'not yet' : `${Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000))} s ago`
}
