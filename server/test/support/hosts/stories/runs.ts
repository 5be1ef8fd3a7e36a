import type { Account, Job, PullRequest, Repository, Run, RunEvent, Workflow } from '../types.ts'
import type { World } from '../world.ts'
import { emitRun, lastAttempt, type NewJob, newJobs } from './jobs.ts'
import { continueRun } from './progress.ts'

export type NewRun = {
  /** The name of the pipeline definition, or its name and file. */
  workflow?: string | Pick<Workflow, 'name' | 'path'>
  branch?: string
  /** The newest commit of the branch by default. */
  sha?: string
  event?: RunEvent
  actor?: string
  title?: string
  pullRequest?: PullRequest
  jobs?: NewJob[]
}

export function createRun(world: World, repository: Repository, fields: NewRun): Run {
  const { pullRequest = null, jobs = [{ name: 'build' }] } = fields
  const branch = fields.branch ?? pullRequest?.head.ref ?? repository.default_branch
  const sha = fields.sha ?? pullRequest?.head.sha ?? repository.refs.get(`refs/heads/${branch}`)
  if (sha === undefined) throw new Error(`Branch ${branch} has no commit: push first`)
  const workflow = findWorkflow(world, repository, fields.workflow ?? 'CI')
  workflow.runs += 1
  const actor = world.account(fields.actor ?? repository.commits.get(sha)?.account?.login ?? 'ada')
  const run: Run = {
    ...world.newIds(),
    repository,
    workflow,
    number: workflow.runs,
    index: repository.runs.length + 1,
    event: fields.event ?? (pullRequest === null ? 'push' : 'pull_request'),
    branch,
    sha,
    title: fields.title ?? repository.commits.get(sha)?.message.split('\n')[0] ?? workflow.name,
    actor,
    pullRequest,
    created_at: world.now(),
    attempts: [],
    approvals: [],
  }
  repository.runs.unshift(run)
  beginAttempt(world, run, actor, newJobs(world, jobs, 1))
  return run
}

function findWorkflow(world: World, repository: Repository, wanted: NonNullable<NewRun['workflow']>): Workflow {
  const { name, path } = typeof wanted === 'string' ? { name: wanted, path: world.workflowPath(wanted) } : wanted
  const known = repository.workflows.get(path)
  if (known !== undefined) return known
  const workflow = { ...world.newIds(), name, path, created_at: repository.created_at, runs: 0 }
  repository.workflows.set(path, workflow)
  return workflow
}

function beginAttempt(world: World, run: Run, actor: Account, jobs: Job[]): void {
  const at = run.attempts.length === 0 ? run.created_at : world.now()
  const number = run.attempts.length + 1
  const open = { status: 'queued', conclusion: null, completed_at: null } as const
  run.attempts.push({ number, ...open, actor, started_at: at, updated_at: at, jobs })
  emitRun(world, run, 'created')
  continueRun(world, run)
}

/**
 * Runs all jobs again, or those that did not succeed; the others are taken over as they are, with
 * the attempt in which they ran.
 */
export function rerun(world: World, run: Run, actor: string, failedOnly: boolean): void {
  const last = lastAttempt(run)
  if (last.status !== 'completed') throw new Error(`Run ${run.id} is not completed`)
  const jobs = last.jobs.map((job): Job => {
    if (failedOnly && job.conclusion === 'success') return world.takeOver(job, last.number + 1)
    return again(world, job, last.number + 1)
  })
  beginAttempt(world, run, world.account(actor), jobs)
}

function again(world: World, job: Job, attempt: number): Job {
  const { name, needs, stage, environment, environment_url, steps } = job
  const [made] = newJobs(world, [{ name, needs, steps: steps.map((step) => step.name) }], attempt)
  return { ...(made as Job), stage, environment, environment_url }
}
