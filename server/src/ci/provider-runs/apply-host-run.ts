import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import { hostRunId } from '../../codehosts/host-ids.ts'
import type { HostJob, HostRun } from '../../codehosts/host-run.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { publish } from '../../platform/queue/event.ts'
import { endedBadly, isFinal, type RunStatus } from '../runs/run-status.ts'
import { runFinished } from '../runs/update-run.ts'
import { lockProviderRun, type ProviderRunKey, readAttemptFacts, writeAttemptFacts } from './attempt-facts.store.ts'
import {
  type Attempt,
  type AttemptFacts,
  courseOf,
  mergeVersions,
  type RunCourse,
  toAttemptVersion,
} from './attempt-facts.ts'
import {
  addLastingFacts,
  askForDetails,
  askForFailure,
  findRunVersion,
  updateNewestAttempt,
  upsertEarlierAttempts,
  upsertRun,
} from './provider-run.store.ts'
import { toLastingFacts, toProviderRun } from './provider-run.ts'
import { requestCompletion } from './provider-run-jobs.ts'
import { linkPullRequestsOfRun, linkRunsOfPullRequest } from './pull-request-link.store.ts'

const UNKNOWN: Omit<AttemptFacts, 'number'> = { job_started: false, version: null }

/**
 * Stores a version of a run. The facts of each attempt are merged, and the run is derived from
 * them, so that the order in which versions arrive has no effect.
 */
export const applyHostRun: HostEventHandler<'run'> = async ({ clock }, tx, source, run) => {
  const key = keyOf(source, run.id)
  await lockProviderRun(tx, key)
  const [facts, storedVersion] = [await readAttemptFacts(tx, key), await findRunVersion(tx, key)]
  const given = toAttemptVersion(run)
  const changed = changeAttempt(facts, run.attempt, ({ version, job_started }) => ({
    job_started,
    version: mergeVersions(version, given),
  }))
  if (changed !== null) await writeAttemptFacts(tx, key, changed.attempt)
  const isNewest = storedVersion === null || given.host_version > storedVersion
  const after = courseOf(changed?.facts ?? facts) as RunCourse
  if (isNewest) await upsertRun(tx, key, toProviderRun(run, given), after)
  else if (changed !== null) await updateNewestAttempt(tx, key, after)
  await addLastingFacts(tx, key, toLastingFacts(run))
  if (storedVersion === null) await linkPullRequestsOfRun(tx, key)
  if (changed === null && !isNewest) return
  await followChange(tx, { key, run, before: courseOf(facts), after }, clock.now())
}

/** The statuses of jobs that have started. A job can be skipped or cancelled before it starts. */
const STARTED: readonly RunStatus[] = ['in_progress', 'success', 'failure', 'timed_out']

/** Links the runs of a pull request to it. Its facts have been stored before. */
export const applyPullRequestToRuns: HostEventHandler<'pull_request'> = (_, tx, source, pull) =>
  linkRunsOfPullRequest(tx, source, pull)

/** A job that has started shows that its attempt is no longer queued. */
export const applyHostJob: HostEventHandler<'job'> = async ({ clock }, tx, source, job) => {
  if (!STARTED.includes(job.status)) return
  const key = keyOf(source, job.run_id)
  await lockProviderRun(tx, key)
  const facts = await readAttemptFacts(tx, key)
  const changed = changeAttempt(facts, job.attempt, ({ version }) => ({ job_started: true, version }))
  if (changed === null) return
  await writeAttemptFacts(tx, key, changed.attempt)
  const after = courseOf(changed.facts)
  if (after === null) return
  await updateNewestAttempt(tx, key, after)
  await followChange(tx, { key, run: job, before: courseOf(facts), after }, clock.now())
}

function keyOf({ org_id, provider }: HostSource, runId: string): ProviderRunKey {
  return { org_id, run_id: hostRunId(provider, runId) }
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
async function followChange(tx: Tx, { key, run, before, after }: Change, now: Date): Promise<void> {
  if (after.earlier.length > 0) await upsertEarlierAttempts(tx, key, after.earlier)
  if (hasNewGap(before, after)) await askForDetails(tx, key)
  const { newest } = after
  if (stateOf(before?.newest) !== stateOf(newest))
    await askForFailure(tx, key, endedBadly(newest.status) && newest.status !== 'skipped' ? newest.number : null)
  for (const attempt of finishedBetween(before, after)) {
    const isRecent = (attempt.completed_at as Date).getTime() >= now.getTime() - DAY_MS
    const event = { ...key, attempt: attempt.number, status: attempt.status }
    if (isRecent) await publish(tx, runFinished, event)
  }
  const { provider, id } = run.repository
  await requestCompletion(tx, { org_id: key.org_id, provider, repository_id: id }, key.run_id)
}

/** True if attempts before a new one, or their ends, are not known. */
function hasNewGap(before: RunCourse | null, { newest, earlier }: RunCourse): boolean {
  const ended = earlier.filter(({ status }) => isFinal(status)).length
  return before !== null && newest.number > before.newest.number && ended < newest.number - 1
}

function stateOf(attempt: Attempt | undefined): string {
  return `${attempt?.number} ${attempt?.status}`
}

/** The attempts that have a final status which they did not have before. */
function finishedBetween(before: RunCourse | null, after: RunCourse): Attempt[] {
  const known = new Set(before === null ? [] : [...before.earlier, before.newest].map(stateOf))
  return [...after.earlier, after.newest].filter((attempt) => isFinal(attempt.status) && !known.has(stateOf(attempt)))
}
