import {
  findPullRequest,
  type LandedPush,
  listMergedWith,
  listPushedCommits,
  type MergedPullRequest,
  PUSHED_COMMITS_MAX,
} from '../../ci/changes/landed-change.store.ts'
import type { HostChangeCommit } from '../../codehosts/host-change.ts'
import { assignCommits } from './pushed-commits.ts'
import { type LandingPass, readPullRequest, readPushedCommits } from './read-landing.ts'

/** The commits of a push that landed with no pull request, oldest first. */
type OwnCommits = { commits: HostChangeCommit[]; complete: boolean }

const ASKED_COMMITS_MAX = 250
const ASKED_PULL_REQUESTS_MAX = 20

/**
 * The commits of a push that landed with no pull request. The host is asked for pull requests that
 * it merged with the pushed commits, because their events may be late. Returns null if every commit
 * landed with a pull request. A push that replaced commits of the branch is always a change.
 */
export async function readOwnCommits(pass: LandingPass, push: LandedPush): Promise<OwnCommits | null> {
  if (await isKnownToBeMerged(pass, push)) return null
  const { commits, complete } = await readPushedCommits(pass, push)
  const pushed = commits.length > 0 || push.forced ? commits : [onlyCommit(push)]
  let rest = await findRest(pass, pushed)
  if (rest.length > 0 && (await storeMerged(pass, rest))) rest = await findRest(pass, pushed)
  return rest.length === 0 && !push.forced
    ? null
    : { commits: pushed.filter(({ sha }) => rest.includes(sha)), complete }
}

/** Whether all commits that the event listed landed with stored pull requests. */
async function isKnownToBeMerged({ services, landing }: LandingPass, push: LandedPush): Promise<boolean> {
  const listed = await listPushedCommits(services.sql, landing, push.id)
  if (push.forced || listed.at(-1)?.sha !== push.after_sha || listed.length >= PUSHED_COMMITS_MAX) return false
  const shas = listed.map(({ sha }) => sha)
  const pulls = await listMergedWith(services.sql, landing, landing.branch, shas)
  return assignCommits(listed, pulls.map(withoutCommits)).rest.length === 0
}

function withoutCommits(pull: MergedPullRequest) {
  return { ...pull, commits: [] }
}

/** Neither the host nor the event lists commits. Only the SHA of the newest one is known. */
function onlyCommit({ after_sha }: LandedPush): HostChangeCommit {
  const nobody = { name: '', email: null, id: null, login: null }
  return { sha: after_sha, message: '', author: nobody, committer: nobody, signature: null }
}

async function findRest(pass: LandingPass, pushed: readonly HostChangeCommit[]): Promise<string[]> {
  const { services, landing } = pass
  const shas = pushed.map(({ sha }) => sha)
  const pulls = await listMergedWith(services.sql, landing, landing.branch, shas)
  const { rest } = assignCommits(pushed, pulls.map(withoutCommits))
  if (rest.length === 0 || pulls.length === 0) return rest
  const withCommits = []
  for (const [index, pull] of pulls.entries())
    withCommits.push({ ...pull, commits: index < ASKED_PULL_REQUESTS_MAX ? await fetchCommits(pass, pull) : null })
  return assignCommits(pushed, withCommits).rest
}

async function fetchCommits({ reads }: LandingPass, { number }: MergedPullRequest) {
  const list = await reads.read('listPullRequestCommits', (client, repository) =>
    client.listPullRequestCommits(repository, number),
  )
  return list?.commits ?? null
}

/**
 * Stores the merged pull requests that the host names for these commits. Returns whether one is
 * new.
 */
async function storeMerged(pass: LandingPass, shas: readonly string[]): Promise<boolean> {
  const { reads, services, landing } = pass
  const asked = shas.slice(-ASKED_COMMITS_MAX).map((sha) => ({ sha, workflow_path: null }))
  const commits = await reads.read('readCommits', (client, repository) => client.readCommits(repository, asked))
  const numbers = new Set((commits ?? []).flatMap(({ merged_pull_request: pull }) => pull?.number ?? []))
  let isNew = false
  for (const number of numbers) {
    const known = await findPullRequest(services.sql, landing, number)
    if (known?.state === 'merged' && known.merge_commit_sha !== null) continue
    await readPullRequest(pass, number)
    isNew = true
  }
  return isNew
}
