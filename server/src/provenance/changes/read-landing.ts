import { applyCheck, applyPullRequest, applyReview } from '../../ci/changes/apply-change.ts'
import {
  findPushOfCommit,
  type LandedPullRequest,
  type LandedPush,
  listMergedWith,
  listPushedCommits,
} from '../../ci/changes/landed-change.store.ts'
import type { HostBranchRules, HostChangeCommit, HostCodeOwners, HostCommitList } from '../../codehosts/host-change.ts'
import type { HostEvent, HostSource } from '../../codehosts/host-event.ts'
import type { Services } from '../../services.ts'
import type { HostReads } from './host-reads.ts'
import type { Landing } from './landing.store.ts'
import { hasPresentRules } from './landing-schedule.ts'
import { followPullRequest } from './landings.job.ts'
import { assignCommits } from './pushed-commits.ts'

/** The reading of one landing. */
export type LandingPass = {
  services: Services
  reads: HostReads
  /** The rules of branches that this pass has read. */
  rules: Map<string, HostBranchRules | null>
  landing: Landing
}

/** What the host says about a landing, for its record. */
export type HostFacts = {
  /** Those of the pull request or of the push; and those that landed with a pull request. */
  commits: HostCommitList
  /** Null: unknown, or the repository has no such file. */
  code_owners: { file: HostCodeOwners; commit_sha: string; files: { paths: string[]; complete: boolean } } | null
  branch_rules: HostBranchRules | null
}

/** Stores what the host says now about the checks of a commit. */
export async function readChecks({ services, reads }: LandingPass, sha: string): Promise<void> {
  const at = services.clock.now()
  const checks = await reads.read('listChecks', (client, repository) => client.listChecks(repository, sha))
  const events = (checks ?? []).map((data): HostEvent => ({ kind: 'check', data }))
  await applyAll(services, reads, { at, events })
}

/** Stores a pull request as the host describes it now. */
export async function readPullRequest({ services, reads }: LandingPass, number: number): Promise<void> {
  const at = services.clock.now()
  const data = await reads.read('readPullRequest', (client, repository) => client.readPullRequest(repository, number))
  if (data !== null) await applyAll(services, reads, { at, events: [{ kind: 'pull_request', data }] })
}

/** What the host answered to a request that was sent at a time. */
type Answered = { at: Date; events: HostEvent[] }

/** Applies what was read, each in a transaction of its own, as deliveries are. */
async function applyAll(services: Services, reads: HostReads, { at, events }: Answered): Promise<void> {
  if (reads.source === null) return
  const source: HostSource = { ...reads.source, learned: { by: 'read', at } }
  for (const { kind, data } of events) {
    await services.sql.begin(async (tx) => {
      if (kind === 'check') await applyCheck(services, tx, source, data)
      if (kind === 'review') await applyReview(services, tx, source, data)
      if (kind !== 'pull_request') return
      await applyPullRequest(services, tx, source, data)
      await followPullRequest(services, tx, source, data)
    })
  }
}

/**
 * Reads what a record states about a merged pull request, and stores its present reviews and
 * checks. The rules of a long past landing are not known.
 */
export async function readMergedPullRequest(
  pass: LandingPass,
  pull: LandedPullRequest,
  mergeSha: string,
): Promise<HostFacts> {
  const checked = pass.landing.late ? [] : [...new Set([pull.head_sha, mergeSha])]
  const [commits, code_owners, branch_rules] = await Promise.all([
    readPullRequestCommits(pass, pull, mergeSha),
    readCodeOwners(pass, pull),
    readRules(pass),
    readReviews(pass, pull.number),
    ...checked.map((sha) => readChecks(pass, sha)),
  ])
  return { commits, code_owners, branch_rules }
}

async function readReviews({ services, reads }: LandingPass, number: number): Promise<void> {
  const at = services.clock.now()
  const reviews = await reads.read('listReviews', (client, repository) => client.listReviews(repository, number))
  const events = (reviews ?? []).map((data): HostEvent => ({ kind: 'review', data }))
  await applyAll(services, reads, { at, events })
}

/** The commits of a pull request, and those that its merge created as far as they are known. */
async function readPullRequestCommits(
  pass: LandingPass,
  pull: LandedPullRequest,
  mergeSha: string,
): Promise<HostCommitList> {
  const { services, reads, landing } = pass
  const own = await reads.read('listPullRequestCommits', (client, repository) =>
    client.listPullRequestCommits(repository, pull.number),
  )
  const push = await findPushOfCommit(services.sql, landing, landing.branch, mergeSha)
  const pushed = push === null ? [] : (await readPushedCommits(pass, push)).commits
  const shas = pushed.map(({ sha }) => sha)
  const others = (await listMergedWith(services.sql, landing, landing.branch, shas)).filter(
    ({ number }) => number !== pull.number,
  )
  const merged = { number: pull.number, merge_commit_sha: mergeSha, heads: [pull.head_sha] }
  const { landed } = assignCommits(pushed, [
    { ...merged, commits: own?.commits ?? null },
    ...others.map((other) => ({ ...other, commits: null })),
  ])
  const known = new Set(own?.commits.map(({ sha }) => sha))
  const created = pushed.filter(({ sha }) => landed.get(pull.number)?.has(sha) && !known.has(sha))
  return { commits: [...(own?.commits ?? []), ...created], complete: own?.complete ?? false }
}

/** The commits of a push: as the host compares them, else as its event listed them. */
export async function readPushedCommits(
  { services, reads, landing }: LandingPass,
  push: LandedPush,
): Promise<HostCommitList> {
  const { before_sha: before, after_sha: after } = push
  const compared =
    before === null
      ? null
      : await reads.read('compareCommits', (client, repository) => client.compareCommits(repository, before, after))
  if (compared !== null) return compared
  const listed = await listPushedCommits(services.sql, landing, push.id)
  const commits = listed.map(({ sha, message, author, committer }) => ({
    sha,
    message,
    signature: null,
    author: { ...author, id: null },
    committer: { ...committer, id: null },
  }))
  return { commits, complete: !push.forced && commits.at(-1)?.sha === after }
}

export async function readPush(pass: LandingPass, commits: HostChangeCommit[], complete: boolean): Promise<HostFacts> {
  const { late, head_sha } = pass.landing
  const [branch_rules] = await Promise.all([readRules(pass), late ? undefined : readChecks(pass, head_sha)])
  return { commits: { commits, complete }, code_owners: null, branch_rules }
}

/** The file of the branch decides, as it was before the pull request. */
async function readCodeOwners({ reads }: LandingPass, pull: LandedPullRequest): Promise<HostFacts['code_owners']> {
  const { base_sha: commit_sha, number } = pull
  const file = await reads.read('readCodeOwners', (client, repository) => client.readCodeOwners(repository, commit_sha))
  if (file === null) return null
  const files = await reads.read('listChangedFiles', (client, repository) =>
    client.listChangedFiles(repository, number),
  )
  return files && { file, commit_sha, files }
}

async function readRules({ services, reads, rules, landing }: LandingPass): Promise<HostBranchRules | null> {
  const { branch } = landing
  if (!hasPresentRules(landing, services.clock.now())) return null
  const known = rules.get(branch)
  if (known !== undefined) return known
  const missed = reads.missed
  const read = await reads.read('readBranchRules', (client, repository) => client.readBranchRules(repository, branch))
  if (reads.missed === missed) rules.set(branch, read)
  return read
}
