import { lastAttempt } from '../objects/run.ts'
import type { Account, Attempt, Job, PullRequest, Repository, Run, Workflow } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { emitRun, type NewJob, newJob } from './jobs.ts'
import { continueRun } from './progress.ts'

export type NewRun = {
  /** The name of the workflow, or its name and file. */
  workflow?: string | { name: string; path: string }
  branch?: string
  /** The newest commit of the branch by default. */
  sha?: string
  event?: string
  actor?: string
  title?: string
  pullRequest?: PullRequest
  jobs?: NewJob[]
}

export function createRun(world: World, repository: Repository, fields: NewRun): Run {
  const { state } = world
  const branch = fields.branch ?? fields.pullRequest?.head.ref ?? repository.default_branch
  const sha = fields.sha ?? fields.pullRequest?.head.sha ?? repository.refs.get(`refs/heads/${branch}`)
  if (sha === undefined) throw new Error(`Branch ${branch} has no commit: push first`)
  const workflow = findWorkflow(world, repository, fields.workflow ?? 'CI')
  workflow.runs += 1
  const actor = state.account(fields.actor ?? repository.commits.get(sha)?.account?.login ?? 'ada')
  const run: Run = {
    id: state.newId(),
    check_suite_id: state.newId(),
    repository,
    workflow,
    number: workflow.runs,
    event: fields.event ?? (fields.pullRequest === undefined ? 'push' : 'pull_request'),
    branch,
    sha,
    title: fields.title ?? repository.commits.get(sha)?.message.split('\n')[0] ?? workflow.name,
    actor,
    pullRequests: fields.pullRequest === undefined ? [] : [fields.pullRequest],
    created_at: world.now(),
    attempts: [],
    approvals: [],
  }
  repository.runs.unshift(run)
  const jobs = fields.jobs ?? [{ name: 'build' }]
  beginAttempt(
    world,
    run,
    actor,
    jobs.map((job) => newJob(world, job, 1)),
  )
  return run
}

function findWorkflow(
  { state }: World,
  repository: Repository,
  wanted: string | { name: string; path: string },
): Workflow {
  const name = typeof wanted === 'string' ? wanted : wanted.name
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const path = typeof wanted === 'string' ? `.github/workflows/${slug}.yml` : wanted.path
  const known = repository.workflows.get(path)
  if (known !== undefined) return known
  const workflow = { id: state.newId(), name, path, created_at: repository.created_at, runs: 0 }
  repository.workflows.set(path, workflow)
  return workflow
}

function beginAttempt(world: World, run: Run, actor: Account, jobs: Job[]): void {
  const at = world.now()
  const attempt: Attempt = {
    number: run.attempts.length + 1,
    status: 'queued',
    conclusion: null,
    actor,
    started_at: run.attempts.length === 0 ? run.created_at : at,
    updated_at: at,
    jobs,
  }
  run.attempts.push(attempt)
  emitRun(world, run, 'requested')
  continueRun(world, run)
}

/** Runs all jobs again, or those that did not succeed; the others are taken over. */
export function rerun(world: World, run: Run, actor: string, failedOnly: boolean): void {
  const last = lastAttempt(run)
  if (last.status !== 'completed') throw new Error(`Run ${run.id} is not completed`)
  const jobs = last.jobs.map((job): Job => {
    const number = last.number + 1
    if (failedOnly && job.conclusion === 'success') return { ...job, id: world.state.newId(), attempt: number }
    const { environment, environment_url } = job
    const steps = job.steps.map(({ name }) => name)
    const named = { name: job.name, needs: job.needs, steps }
    return { ...newJob(world, named, number), environment, environment_url }
  })
  beginAttempt(world, run, world.state.account(actor), jobs)
}
