import type { HostPullRequest, HostReview } from '../codehosts/host-change.ts'
import type { HostRepository } from '../codehosts/host-repository.ts'
import type { HostRun } from '../codehosts/host-run.ts'
import { DAY_MS } from '../platform/clock.ts'
import { enqueue } from '../platform/queue/job.ts'
import { recordChangesJob } from '../provenance/changes/landings.job.ts'
import { reportCi } from './ci-reports.ts'
import { computeSha, makeChangeCommit, selectSubject } from './commits.ts'
import { type Delivery, makeDeliverySteps } from './deliveries.ts'
import { completeRun, computeEnd, makeNextAttempt, startHostRun } from './host-runs.ts'
import { AUTHORS, type DemoRepository, HOSTED, REVIEWERS } from './world/company.ts'
import { type Demo, getTimeAfter, type Step } from './world/demo.ts'
import { REQUIRED_CHECKS } from './world/demo-host.ts'

export const STORY_DAYS = 90

/** A merged pull request of the story. */
type Change = {
  repository: HostRepository
  about: DemoRepository
  number: number
  title: string
  author: string
  reviewer: string
  opened: Date
  merged: Date
  head: string
  merge: string
  /** What went differently from the usual way. */
  oddity: 'none' | 'unreviewed' | 'stale' | 'self_approved' | 'unsigned' | 'failed_check'
}

/** Everything that happens with the changes of the repositories on the code host. */
export function makeChangeSteps(demo: Demo): Step[] {
  return HOSTED.flatMap((about) => {
    const repository = demo.repositories.get(about.name) as HostRepository
    return makeChanges(demo, about, repository).flatMap((change, at, all) => [
      ...pullRequestSteps(demo, change),
      ...landingSteps(demo, change, at === all.length - 1),
    ])
  })
}

/** The changes of a repository, oldest first, in working hours. */
function makeChanges(demo: Demo, about: DemoRepository, repository: HostRepository): Change[] {
  const { random, now } = demo
  const first = now.getTime() - (STORY_DAYS - 2) * DAY_MS
  const span = (STORY_DAYS - 2.6) * DAY_MS
  return Array.from({ length: about.changes }, (_, index) => {
    const merged = workingTime(demo, new Date(first + (span * (index + 0.6 + random.next() * 0.5)) / about.changes))
    const author = random.pick(AUTHORS)
    const reviewer = random.pick(REVIEWERS.filter((login) => login !== author))
    const number = 100 + index * 3 + random.below(3)
    const title = selectSubject(random, index + about.changes)
    const text = `${about.name} ${number}`
    const oddity: Change['oddity'] = index % 4 === 3 ? random.pick(ODDITIES) : 'none'
    return {
      repository,
      about,
      number,
      title,
      author,
      reviewer,
      merged,
      oddity,
      opened: getTimeAfter(merged, -(180 + random.below(40 * 60))),
      head: computeSha(`head ${text}`),
      merge: computeSha(`merge ${text}`),
    }
  })
}

/** Every fourth change has one of these; some of them are as usual, too. */
const ODDITIES = ['unreviewed', 'stale', 'self_approved', 'unsigned', 'failed_check', 'none', 'none'] as const

/** Moves a time into the working hours of its day or of the Monday after it, but not past now. */
function workingTime({ random, now }: Demo, at: Date): Date {
  const weekday = at.getUTCDay()
  const days = weekday === 6 ? 2 : weekday === 0 ? 1 : 0
  const day = new Date(at.getTime() + days * DAY_MS)
  day.setUTCHours(8 + random.below(9), random.below(60), random.below(60), 0)
  return day.getTime() < now.getTime() - 0.4 * DAY_MS ? day : new Date(now.getTime() - (0.4 + random.next()) * DAY_MS)
}

function makePullRequest(demo: Demo, change: Change, state: HostPullRequest['state']): HostPullRequest {
  const { repository, number, merged, opened } = change
  const at = state === 'merged' ? merged : null
  return {
    repository,
    number,
    title: change.title,
    url: `${repository.html_url}/pull/${number}`,
    author: demo.account(change.author),
    state,
    draft: false,
    head: { ref: `change-${number}`, sha: change.head, repository_id: repository.id },
    base: { ref: 'main', sha: computeSha(`base ${change.merge}`) },
    merge_commit_sha: state === 'merged' ? change.merge : null,
    merged_by: state === 'merged' ? demo.account(change.reviewer) : null,
    merged_by_queue: false,
    created_at: opened,
    merged_at: at,
    closed_at: at,
    updated_at: at ?? opened,
  }
}

/** A pull request is opened, tested and reviewed. */
function pullRequestSteps(demo: Demo, change: Change): Step[] {
  const { repository, about, opened, merged, number, author } = change
  const start = getTimeAfter(opened, 1)
  const end = computeEnd(demo, start, about.minutes)
  const fails = demo.random.next() < 0.14
  const retried = getTimeAfter(end, 4)
  return [
    {
      at: end,
      async tell(told) {
        remember(told, change)
        await told.apply({ kind: 'pull_request', data: makePullRequest(told, change, 'open') })
        const pull = { number, url: `${repository.html_url}/pull/${number}` }
        const run = startHostRun(told, {
          repository,
          workflow: 'ci',
          kind: 'pull_request',
          ref: `refs/heads/change-${number}`,
          sha: change.head,
          message: change.title,
          login: author,
          start,
          pullRequests: [pull],
        })
        const ended = await completeRun(told, run, fails ? 'failure' : 'success', end)
        await reportCi(told, ended, about)
        if (!fails) return
        const again = computeEnd(told, retried, about.minutes)
        told.clock.advance(again)
        await reportCi(
          told,
          await completeRun(told, makeNextAttempt(told, run, author, retried), 'success', again),
          about,
        )
      },
    },
    ...reviewSteps(change, getTimeAfter(merged, -25)),
  ]
}

/** What the code host answers when it is asked about the change. */
function remember(told: Demo, change: Change): void {
  const { facts } = told.host
  const key = `${change.repository.id} ${change.number}`
  const signed = change.oddity !== 'unsigned'
  facts.pullRequestCommits.set(key, [
    makeChangeCommit(told, { sha: change.head, login: change.author, message: change.title, signed }),
  ])
  facts.changedFiles.set(key, ['src/index.ts', ...(change.number % 3 === 0 ? ['src/payment/refund.ts'] : [])])
}

function reviewSteps(change: Change, at: Date): Step[] {
  const { repository, oddity } = change
  if (oddity === 'unreviewed') return []
  return [
    {
      at,
      async tell(demo) {
        const login = oddity === 'self_approved' ? change.author : change.reviewer
        const review: HostReview = {
          repository,
          pull_request: change.number,
          id: `${change.number}${repository.id}`,
          reviewer: demo.account(login),
          state: 'approved',
          submitted_at: at,
          commit_sha: oddity === 'stale' ? computeSha(`before ${change.head}`) : change.head,
        }
        demo.host.facts.reviews.set(`${repository.id} ${change.number}`, [review])
        await demo.apply({ kind: 'review', data: review })
      },
    },
  ]
}

/** The change lands, is tested again, recorded and, for a service, delivered. */
function landingSteps(demo: Demo, change: Change, isLast: boolean): Step[] {
  const { repository, about, merged } = change
  const start = getTimeAfter(merged, 1)
  const end = computeEnd(demo, start, about.minutes)
  const fails = change.oddity === 'failed_check' || demo.random.next() < 0.05
  const steps: Step[] = [
    {
      at: merged,
      async tell(told) {
        await told.apply({ kind: 'pull_request', data: makePullRequest(told, change, 'merged') })
        await told.apply({ kind: 'push', data: makePush(told, change) })
      },
    },
    {
      at: end,
      async tell(told) {
        const run = await landedRun(told, change, start)
        const ended = await completeRun(told, run, fails ? 'failure' : 'success', end)
        await told.apply(...makeChecks(ended, fails).map((data) => ({ kind: 'check' as const, data })))
        await reportCi(told, ended, about)
      },
    },
    { at: getTimeAfter(end, 6), tell: (told) => recordChanges(told, repository) },
  ]
  if (fails || !about.isService) return steps
  const delivery: Delivery = { ...change, start: getTimeAfter(end, 8), isLast }
  return [...steps, ...makeDeliverySteps(demo, delivery)]
}

async function landedRun(demo: Demo, change: Change, start: Date): Promise<HostRun> {
  const { repository, number, title, author, merge } = change
  const pull = { number, url: `${repository.html_url}/pull/${number}` }
  const message = `${title} (#${number})`
  return startHostRun(demo, {
    repository,
    workflow: 'ci',
    kind: 'push',
    ref: 'refs/heads/main',
    sha: merge,
    message,
    login: author,
    start,
    pullRequests: [pull],
  })
}

function makePush(demo: Demo, { repository, merge, merged, title, author, reviewer, number }: Change) {
  const { name } = demo.account(author)
  const person = { name: name ?? author, email: null, login: author }
  const commit = { sha: merge, message: `${title} (#${number})`, author: person, committer: person, at: merged }
  return {
    repository,
    ref: 'refs/heads/main',
    before: computeSha(`base ${merge}`),
    after: merge,
    forced: false,
    pusher: demo.account(reviewer),
    by_merge_queue: false,
    commits: [commit],
    pushed_at: merged,
  }
}

function makeChecks({ repository, commit, html_url, started_at, completed_at }: HostRun, fails: boolean) {
  return REQUIRED_CHECKS.map((name, index) => ({
    repository,
    commit_sha: commit.sha,
    id: `${commit.sha.slice(0, 12)}${index}`,
    name,
    source: 'github-actions',
    status: fails && name === 'test' ? ('failure' as const) : ('success' as const),
    url: `${html_url}/job/${index}`,
    started_at,
    completed_at,
  }))
}

/** Records the changes of a repository that are due. */
export async function recordChanges(demo: Demo, repository: HostRepository): Promise<void> {
  const { org_id, provider } = demo.source
  await enqueue(demo.services.sql, recordChangesJob, { org_id, provider, repository_id: repository.id })
  await demo.settle()
}
