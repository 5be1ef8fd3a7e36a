import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { HostPullRequestName, HostRun, HostRunStatus, TriggerKind } from '../../codehosts/host-run.ts'
import { type Demo, getTimeAfter } from '../world/demo.ts'
import { makeFailedJobs, makeSucceededJobs } from './host-jobs.ts'

export const WORKFLOWS = {
  ci: { id: '3101', name: 'CI', path: '.github/workflows/ci.yml' },
  deploy: { id: '3102', name: 'Deploy', path: '.github/workflows/deploy.yml' },
  nightly: { id: '3103', name: 'Nightly scan', path: '.github/workflows/nightly.yml' },
} as const

export type RunOfStory = {
  repository: HostRepository
  workflow: keyof typeof WORKFLOWS
  kind: TriggerKind
  ref: string
  sha: string
  message: string
  login: string
  start: Date
  pullRequests?: HostPullRequestName[]
}

let lastId = 0

/** Starts a run, which is not stored before it is applied. */
export function startHostRun(demo: Demo, run: RunOfStory): HostRun {
  lastId += 1
  const id = `${7_300_000_000 + lastId}`
  const actor = demo.account(run.login)
  const { repository, sha, message, start } = run
  demo.host.facts.commits.set(sha, {
    sha,
    message,
    author: actor,
    merged_pull_request: run.kind === 'push' || run.kind === 'workflow' ? (run.pullRequests?.[0] ?? null) : null,
    workflow_blob: null,
  })
  return {
    repository,
    id,
    number: lastId,
    attempt: 1,
    workflow: WORKFLOWS[run.workflow],
    status: 'in_progress',
    ref: run.ref,
    head_repository_id: repository.id,
    commit: { sha, message },
    event: { push: 'push', pull_request: 'pull_request', schedule: 'schedule', workflow: 'workflow_run' }[
      run.kind as 'push'
    ],
    kind: run.kind,
    release_name: null,
    actor,
    triggering_actor: actor,
    pull_requests: run.kind === 'pull_request' ? (run.pullRequests ?? []) : [],
    html_url: `${repository.html_url}/actions/runs/${id}`,
    created_at: start,
    started_at: start,
    completed_at: null,
    updated_at: start,
  }
}

/** Applies the end of a run's attempt, with its jobs. Returns the run as it is then. */
export async function completeRun(demo: Demo, run: HostRun, status: HostRunStatus, at: Date): Promise<HostRun> {
  const ended = { ...run, status, completed_at: at, updated_at: at }
  const { facts } = demo.host
  facts.runs.set(`${run.id} ${run.attempt}`, ended)
  facts.jobs.set(
    `${run.id} ${run.attempt}`,
    status === 'success' ? makeSucceededJobs(ended) : makeFailedJobs(demo, ended),
  )
  await demo.apply({ kind: 'run', data: ended })
  return ended
}

/** The next attempt of a run, started by hand. */
export function makeNextAttempt(demo: Demo, run: HostRun, login: string, start: Date): HostRun {
  const open = { status: 'in_progress' as const, completed_at: null, updated_at: start, started_at: start }
  return { ...run, ...open, attempt: run.attempt + 1, triggering_actor: demo.account(login) }
}

/** When a run ends that takes about so many minutes. */
export function computeEnd(demo: Demo, start: Date, minutes: number): Date {
  return getTimeAfter(start, minutes * (0.75 + demo.random.next() * 0.6))
}
