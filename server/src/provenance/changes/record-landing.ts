import {
  findPullRequest,
  findPush,
  findPushOfCommit,
  type LandedPullRequest,
  type LandedPush,
  listLandedReviews,
} from '../../ci/changes/landed-change.store.ts'
import { listCommitChecks, listCommitRuns } from '../../ci/evidence/commit-evidence.store.ts'
import { isFinal } from '../../ci/runs/run-status.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { createChangeId } from '../../platform/ids.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import { findChangeSecurity } from '../../security/issues/change-security.store.ts'
import { appendLink } from '../chain/append-link.ts'
import { insertChange } from './change.store.ts'
import { readOwnCommits } from './change-of-push.ts'
import { describeChange, type Results } from './describe-change.ts'
import {
  type Landing,
  lockLanding,
  updateLandingDropped,
  updateLandingDue,
  updateLandingRecorded,
} from './landing.store.ts'
import {
  type CommitState,
  computeLaterTry,
  computeNextTry,
  decideNextStep,
  WITHOUT_COMMIT,
} from './landing-schedule.ts'
import {
  type HostFacts,
  type LandingPass,
  readChecks,
  readMergedPullRequest,
  readPullRequest,
  readPush,
} from './read-landing.ts'

/**
 * Does what is due for a landing: waits for checks and runs, finds that a push is no change of its
 * own, or writes the record.
 */
export async function settleLanding(pass: LandingPass): Promise<void> {
  const { services, reads, landing } = pass
  const missed = reads.missed
  const subject = await findSubject(pass)
  if (subject === null) return
  const step = decideNextStep(
    landing,
    await findCommitState(services.sql, landing, subject.merge_sha),
    services.clock.now(),
  )
  if (step.step === 'wait') return updateLandingDue(services.sql, landing, { ...landing, due_at: step.until })
  if (step.step === 'ask') {
    await readChecks(pass, subject.merge_sha)
    if (reads.missed > missed && (await waitForHost(pass))) return
    return settleLanding({ ...pass, landing: { ...landing, asked_at: services.clock.now() } })
  }
  const host = await readHost(pass, subject)
  if (reads.missed > missed && (await waitForHost(pass))) return
  if (host === null) return updateLandingDropped(services.sql, landing)
  await services.sql.begin((tx) => writeRecord(pass, tx, subject, host))
}

type Subject = { merge_sha: string; pull_request: LandedPullRequest | null; push: LandedPush | null }

/** Null while the commit of a merged pull request is unknown. The landing is postponed then. */
async function findSubject(pass: LandingPass): Promise<Subject | null> {
  const { services, landing } = pass
  if (landing.pull_request === null) {
    const push = await findPush(services.sql, landing, landing.push_id as string)
    return { merge_sha: landing.head_sha, pull_request: null, push }
  }
  const pull_request = await findMerged(pass, landing.pull_request)
  const merge_sha = pull_request?.merge_commit_sha ?? null
  if (merge_sha !== null) {
    const push = await findPushOfCommit(services.sql, landing, landing.branch, merge_sha)
    return { merge_sha, pull_request, push }
  }
  await updateLandingDue(services.sql, landing, {
    ...landing,
    ...computeLaterTry(landing, WITHOUT_COMMIT, services.clock.now()),
  })
  return null
}

/** Asks the host for the commit of a merged pull request, if it is unknown. */
async function findMerged(pass: LandingPass, number: number): Promise<LandedPullRequest | null> {
  const { services, landing } = pass
  const known = await findPullRequest(services.sql, landing, number)
  if (known?.merge_commit_sha !== null) return known
  await readPullRequest(pass, number)
  return findPullRequest(services.sql, landing, number)
}

async function findCommitState(db: Db, landing: Landing, mergeSha: string): Promise<CommitState> {
  const [checks, runs] = await Promise.all([
    listCommitChecks(db, landing, [mergeSha]),
    listCommitRuns(db, landing, mergeSha),
  ])
  const results = [...checks, ...runs]
  if (results.length === 0) return 'unknown'
  return results.every(({ status }) => isFinal(status)) ? 'finished' : 'open'
}

/** Null if all commits of a push landed with pull requests. */
async function readHost(pass: LandingPass, { pull_request, push, merge_sha }: Subject): Promise<HostFacts | null> {
  if (pull_request !== null) return readMergedPullRequest(pass, pull_request, merge_sha)
  const own = push && (await readOwnCommits(pass, push))
  return own && readPush(pass, own.commits, own.complete)
}

/** Postpones the landing if the host may still answer. Returns whether it does. */
async function waitForHost({ services, reads, landing }: LandingPass): Promise<boolean> {
  const due_at = computeNextTry(landing, await reads.failure(), services.clock.now())
  if (due_at === null) return false
  await updateLandingDue(services.sql, landing, { ...landing, tries: landing.tries + 1, due_at })
  return true
}

/**
 * Appends the record to the chain and stores the change, once. The landing stays locked, so that
 * facts that arrive meanwhile are either in the record or amend it.
 */
async function writeRecord(pass: LandingPass, tx: Tx, subject: Subject, host: HostFacts): Promise<void> {
  const { services } = pass
  const landing = await lockLanding(tx, pass.landing)
  if (landing.state !== 'waiting') return
  const now = services.clock.now()
  const id = createChangeId(landing.landed_at)
  const { org_id, provider, repository_id } = landing
  const known = await findFollowed(tx, { org_id, provider, id: repository_id })
  const repository = { provider, host: known?.host ?? '', id: repository_id, full_name: known?.full_name ?? '' }
  const record = describeChange({
    id,
    landing,
    host,
    repository,
    ...subject,
    results: await readResults(tx, landing, subject.merge_sha),
    security: await readSecurity(tx, landing, { ...subject, host, full_name: repository.full_name }),
  })
  const link = await appendLink(services, tx, landing, { kind: 'record', change_id: id, body: record, at: now })
  await insertChange(tx, landing, { record, link_index: link.index, recorded_at: now })
  await updateLandingRecorded(tx, landing, id)
}

/** The reviews, checks and runs of a landing, as they are stored now. */
export async function readResults(db: Db, landing: Landing, mergeSha: string): Promise<Results> {
  return {
    reviews: landing.pull_request === null ? [] : await listLandedReviews(db, landing, landing.pull_request),
    checks: await listCommitChecks(db, landing, [...new Set([landing.head_sha, mergeSha])]),
    runs: await listCommitRuns(db, landing, mergeSha),
  }
}

type Scanned = Subject & { host: HostFacts; full_name: string }

function readSecurity(tx: Tx, landing: Landing, { pull_request: pull, host, full_name }: Scanned) {
  const isOwn = pull?.head_repository_id === landing.repository_id
  const scanned = pull && {
    number: pull.number,
    head_ref: isOwn ? pull.head_ref : null,
    commits: [...new Set([pull.head_sha, ...host.commits.commits.map(({ sha }) => sha)])],
  }
  return findChangeSecurity(tx, { ...landing, full_name }, landing.landed_at, scanned)
}
