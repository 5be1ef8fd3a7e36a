import { isTrackedBranch } from '../../ci/changes/apply-change.ts'
import { buildPushId } from '../../ci/changes/host-change.store.ts'
import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { lazy } from '../../platform/lazy.ts'
import { defineJob, defineScheduledJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, integer, Optional, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import {
  formatRepositoryKey,
  parseBranchName,
  REPOSITORY_KEY,
  type RepositoryKey,
} from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import {
  type ConcernedBy,
  insertLanding,
  listConcerned,
  listDueRepositories,
  type NewLanding,
  updateMergeCommit,
} from './landing.store.ts'
import { computeFirstDue, isLate, SETTLE_MS } from './landing-schedule.ts'

const REPOSITORIES_MAX = 1000

/**
 * Writes the records of a repository's landings that are due. An import queues much of this work.
 */
export const recordChangesJob = defineJob('provenance.record-changes', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  priority: 10,
  once: formatRepositoryKey,
  run: lazy(async () => (await import('./record-changes.ts')).recordChanges),
  updates: () => [update('change')],
})

/** Follows a review, check or run of a landing: the record may be due, or needs an amendment. */
export const followFactJob = defineJob('provenance.follow-fact', {
  payload: definePayload({ org_id: Optional(text), landing_id: integer }),
  attemptsMax: 10,
  priority: 10,
  run: lazy(async () => (await import('./record-changes.ts')).followFact),
})

/**
 * Queues the job of repositories with due landings: for their deadlines, and where a job was lost.
 */
export const recordDueChanges = defineScheduledJob('provenance.record-due-changes', {
  schedule: '* * * * *',
  async run({ sql, clock }: Services) {
    for (const repository of await listDueRepositories(sql, clock.now(), REPOSITORIES_MAX))
      await enqueue(sql, recordChangesJob, repository)
  },
})

type What = Pick<NewLanding, 'pull_request' | 'push_id' | 'branch' | 'head_sha' | 'merge_sha' | 'landed_at'>

/** Notes that a pull request was merged into the tracked branch. */
export const followPullRequest: HostEventHandler<'pull_request'> = async ({ clock }, tx, source, pull) => {
  if (pull.state !== 'merged' || !(await isTrackedBranch(tx, source, pull.repository, pull.base.ref))) return
  const { number, head, base, merge_commit_sha, merged_at, updated_at } = pull
  const landed_at = merged_at ?? updated_at
  const commits = { head_sha: head.sha, merge_sha: merge_commit_sha }
  const what = { pull_request: number, push_id: null, branch: base.ref, ...commits, landed_at }
  await noteLanding(tx, toRepositoryKey(source, pull), what, clock.now())
}

/** Notes a push to the tracked branch. Whether it is a change of its own is decided later. */
export const followTrackedPush: HostEventHandler<'push'> = async ({ clock }, tx, source, push) => {
  const { ref, after, pushed_at: landed_at } = push
  const branch = parseBranchName(ref)
  if (branch === null || after === null || !(await isTrackedBranch(tx, source, push.repository, branch))) return
  const commits = { head_sha: after, merge_sha: after }
  const what = { pull_request: null, push_id: buildPushId(push), branch, ...commits, landed_at }
  await noteLanding(tx, toRepositoryKey(source, push), what, clock.now())
}

async function noteLanding(tx: Tx, repository: RepositoryKey, what: What, now: Date): Promise<void> {
  const times = { landed_at: what.landed_at, noted_at: now }
  const landing = { ...repository, ...what, noted_at: now, late: isLate(times), due_at: computeFirstDue(times) }
  const isNew = await insertLanding(tx, landing)
  const isCompleted = !isNew && what.merge_sha !== null && (await updateMergeCommit(tx, landing))
  if (isNew || isCompleted) await enqueue(tx, recordChangesJob, repository, SETTLE_MS)
}

/** The handlers of facts that a record states: they may complete it, or amend it. */
export const followReview: HostEventHandler<'review'> = (_, tx, source, review) =>
  followFact(tx, toRepositoryKey(source, review), { pull_request: review.pull_request })

export const followCheck: HostEventHandler<'check'> = (_, tx, source, check) =>
  followFact(tx, toRepositoryKey(source, check), { commit_sha: check.commit_sha })

export const followLandedRun: HostEventHandler<'run'> = (_, tx, source, run) =>
  followFact(tx, toRepositoryKey(source, run), { commit_sha: run.commit.sha })

/**
 * The fact is looked at in a transaction of its own, after this one. Its jobs have no key, because
 * transactions that apply many events would wait for each other.
 */
async function followFact(tx: Tx, repository: RepositoryKey, fact: ConcernedBy): Promise<void> {
  const { org_id } = repository
  for (const landing_id of await listConcerned(tx, repository, fact))
    await enqueue(tx, followFactJob, { org_id, landing_id })
}

function toRepositoryKey({ org_id, provider }: HostSource, { repository }: { repository: { id: string } }) {
  return { org_id, provider, repository_id: repository.id }
}
