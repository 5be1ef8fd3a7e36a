import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import { formatHostRunId, type HostJob, type HostRun } from '../../codehosts/host-run.ts'
import { isNewerVersion, isSameVersion } from '../../codehosts/host-version.ts'
import { enqueueRunRead } from '../../codehosts/sync/read-run.job.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { publish } from '../../platform/queue/event.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import {
  type Attempt,
  type AttemptFacts,
  mergeVersions,
  type ProviderRunKey,
  type RunCourse,
  toAttemptVersion,
  toLastingFacts,
  toProviderRun,
  toRunCourse,
} from '../runs/provider-run.ts'
import { runFinished } from '../runs/run.events.ts'
import { updateNewestAttempt, upsertEarlierAttempts } from '../runs/run-attempt.store.ts'
import { updateRunNames } from '../runs/run-row.store.ts'
import { hasEndedBadly, isFinal, type RunStatus } from '../runs/run-status.ts'
import {
  findRunVersion,
  listAttemptFacts,
  lockProviderRun,
  updateDetailsDue,
  updateFailureDue,
  updateLastingFacts,
  upsertAttemptFacts,
  upsertRun,
} from './provider-run.store.ts'
import { enqueueCompletion } from './provider-runs.job.ts'
import { updatePullRequestsOfRun, updateRunsOfPullRequest } from './pull-request-link.store.ts'
import { upsertJobs } from './run-job.store.ts'

const UNKNOWN: Omit<AttemptFacts, 'number'> = { job_started: false, version: null }

/**
 * Stores a version of a run. The facts of each attempt are merged, and the run is derived from
 * them, so that the order in which versions arrive has no effect.
 */
export const applyHostRun: HostEventHandler<'run'> = async ({ clock }, tx, source, run) => {
  const key = getRunKey(source, run.id)
  // Queries are sent together to save round trips. PostgreSQL runs them in order, so these read
  // what the lock waited for.
  const locked = lockProviderRun(tx, key)
  const [facts, storedVersion] = await Promise.all([listAttemptFacts(tx, key), findRunVersion(tx, key), locked])
  const given = toAttemptVersion(run, source.learned)
  const changed = changeAttempt(facts, run.attempt, ({ version, job_started }) => ({
    job_started,
    version: mergeVersions(version, given),
  }))
  const isNewest = storedVersion === null || isNewerVersion(given.host_version, storedVersion)
  const after = toRunCourse(changed?.facts ?? facts) as RunCourse
  await Promise.all([
    changed !== null && upsertAttemptFacts(tx, key, changed.attempt),
    isNewest && upsertRun(tx, key, toProviderRun(run, given), after),
    changed !== null && !isNewest && updateNewestAttempt(tx, key, after),
    updateLastingFacts(tx, key, toLastingFacts(run)),
    storedVersion === null && updatePullRequestsOfRun(tx, key),
  ])
  const isKnown = facts.some(
    ({ version }) => version !== null && isSameVersion(version.host_version, given.host_version),
  )
  if (isKnown || (changed === null && !isNewest)) return
  await followChange(tx, { key, run, before: toRunCourse(facts), after }, clock.now())
}

/** The statuses of jobs that have started. A job can be skipped or cancelled before it starts. */
const STARTED: readonly RunStatus[] = ['in_progress', 'success', 'failure', 'timed_out']

/** Links the runs of a pull request to it. Its facts have been stored before. */
export const applyPullRequestToRuns: HostEventHandler<'pull_request'> = (_, tx, source, pull) =>
  updateRunsOfPullRequest(tx, source, pull)

/** Stores a job. One that has started shows that its attempt is no longer queued. */
export const applyHostJob: HostEventHandler<'job'> = async ({ clock }, tx, source, job) => {
  const key = getRunKey(source, job.run_id)
  await upsertJobs(tx, key, [job])
  if (!STARTED.includes(job.status)) return
  const locked = lockProviderRun(tx, key)
  const [facts] = await Promise.all([listAttemptFacts(tx, key), locked])
  const changed = changeAttempt(facts, job.attempt, ({ version }) => ({ job_started: true, version }))
  if (changed === null) return
  await upsertAttemptFacts(tx, key, changed.attempt)
  const after = toRunCourse(changed.facts)
  if (after === null) {
    const { org_id, provider } = source
    return enqueueRunRead(tx, { org_id, provider, repository_id: job.repository.id, run_id: job.run_id })
  }
  await updateNewestAttempt(tx, key, after)
  await followChange(tx, { key, run: job, before: toRunCourse(facts), after }, clock.now())
}

function getRunKey({ org_id, provider }: HostSource, runId: string): ProviderRunKey {
  return { org_id, run_id: formatHostRunId(provider, runId) }
}

/** The facts with a changed attempt; null if the change has no effect. */
function changeAttempt(
  facts: readonly AttemptFacts[],
  number: number,
  change: (attempt: Omit<AttemptFacts, 'number'>) => Omit<AttemptFacts, 'number'>,
): { attempt: AttemptFacts; facts: AttemptFacts[] } | null {
  const stored = facts.find((attempt) => attempt.number === number) ?? { number, ...UNKNOWN }
  const attempt = { number, ...change(stored) }
  if (JSON.stringify(attempt) === JSON.stringify({ number, job_started: stored.job_started, version: stored.version }))
    return null
  return { attempt, facts: [...facts.filter((other) => other.number !== number), attempt] }
}

type Change = { key: ProviderRunKey; run: HostRun | HostJob; before: RunCourse | null; after: RunCourse }

/** Stores and announces what a change of the attempts leads to. */
async function followChange(tx: Tx, change: Change, now: Date): Promise<void> {
  const { key, run, before, after } = change
  if (after.earlier.length > 0) await upsertEarlierAttempts(tx, key, after.earlier)
  const hasGap = hasNewGap(before, after)
  if (hasGap) await updateDetailsDue(tx, key)
  await followFailure(tx, change)
  for (const { number: attempt, status, completed_at } of finishedBetween(before, after)) {
    const isRecent = (completed_at as Date).getTime() >= now.getTime() - DAY_MS
    if (isRecent) await publish(tx, runFinished, { ...key, attempt, status })
  }
  const repository = { org_id: key.org_id, provider: run.repository.provider, repository_id: run.repository.id }
  const isNews = before === null || hasGap || isFinal(before.newest.status) || isFinal(after.newest.status)
  if (isNews) await enqueueCompletion(tx, repository, key.run_id)
}

/** Asks why the newest attempt failed. What is known of an attempt before it is forgotten. */
async function followFailure(tx: Tx, { key, before, after: { newest } }: Change): Promise<void> {
  if (formatState(before?.newest) === formatState(newest)) return
  if (hasFailed(newest)) await updateFailureDue(tx, key, newest.number)
  else if (before !== null && hasFailed(before.newest)) await updateFailureDue(tx, key, null)
}

/** A skipped attempt ended without success, but did not fail. */
function hasFailed({ status }: Attempt): boolean {
  return hasEndedBadly(status) && status !== 'skipped'
}

/**
 * True if attempts before a new one are not known, or if the end of an earlier one is not known. A
 * code host starts an attempt only after the one before has ended, so the event of its end is late
 * or lost.
 */
function hasNewGap(before: RunCourse | null, { newest, earlier }: RunCourse): boolean {
  if (before === null) return false
  const open = earlier.filter(({ status }) => !isFinal(status))
  if (newest.number > before.newest.number) return open.length > 0 || earlier.length < newest.number - 1
  return open.some(({ number }) => !before.earlier.some((known) => known.number === number))
}

function formatState(attempt: Attempt | undefined): string {
  return `${attempt?.number} ${attempt?.status}`
}

/** The attempts that have a final status which they did not have before. */
function finishedBetween(before: RunCourse | null, after: RunCourse): Attempt[] {
  const known = new Set(before === null ? [] : [...before.earlier, before.newest].map(formatState))
  return [...after.earlier, after.newest].filter(
    (attempt) => isFinal(attempt.status) && !known.has(formatState(attempt)),
  )
}

/** Gives the runs of a renamed repository its present name, in batches. Safe to repeat. */
export async function renameVerifiedRuns({ sql }: Services, repository: RepositoryKey): Promise<void> {
  let last: string | null = ''
  while (last !== null) last = await updateRunNames(sql, repository, last)
}
