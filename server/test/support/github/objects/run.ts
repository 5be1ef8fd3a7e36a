import { lastAttempt } from '../../hosts/stories/jobs.ts'
import type { Attempt, Conclusion, Job, Repository, Run, Workflow } from '../../hosts/types.ts'
import { simpleUser } from './accounts.ts'
import { minimalRepository } from './repository.ts'
import { apiUrl, pageUrl, type Urls } from './urls.ts'

/** Each run has a check suite. */
export function checkSuiteId({ id }: Run): number {
  return 10 * id
}

const EVENTS: Readonly<Record<string, string>> = { manual: 'workflow_dispatch', workflow: 'workflow_run' }

export function eventOf({ event }: Run): string {
  return EVENTS[event] ?? event
}

/** A run as it is in one attempt. */
export function workflowRun(urls: Urls, run: Run, attempt: Attempt = lastAttempt(run)) {
  const { repository, workflow } = run
  const url = `${apiUrl(urls, repository)}/actions/runs/${run.id}`
  const inRepository = minimalRepository(urls, repository)
  return {
    id: run.id,
    name: workflow.name,
    node_id: `WFR_${run.id}`,
    head_branch: run.branch,
    head_sha: run.sha,
    path: workflow.path,
    display_title: run.title,
    run_number: run.number,
    event: eventOf(run),
    status: attempt.status,
    conclusion: attempt.conclusion,
    workflow_id: workflow.id,
    check_suite_id: checkSuiteId(run),
    check_suite_node_id: `CS_${checkSuiteId(run)}`,
    url,
    html_url: `${pageUrl(urls, repository)}/actions/runs/${run.id}`,
    pull_requests: pullRequestsOf(urls, run),
    created_at: run.created_at,
    updated_at: attempt.updated_at,
    actor: simpleUser(urls, run.actor),
    run_attempt: attempt.number,
    referenced_workflows: [],
    run_started_at: attempt.started_at,
    triggering_actor: simpleUser(urls, attempt.actor),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${apiUrl(urls, repository)}/check-suites/${checkSuiteId(run)}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: attempt.number === 1 ? null : `${url}/attempts/${attempt.number - 1}`,
    workflow_url: `${apiUrl(urls, repository)}/actions/workflows/${workflow.id}`,
    head_commit: headCommit(run),
    repository: inRepository,
    head_repository: inRepository,
  }
}

function headCommit(run: Run) {
  const commit = run.repository.commits.get(run.sha)
  if (commit === undefined) return null
  const { author } = commit
  return { id: run.sha, tree_id: run.sha, message: commit.message, timestamp: commit.at, author, committer: author }
}

export function pullRequestsOf(urls: Urls, { repository, pullRequest }: Run) {
  if (pullRequest === null) return []
  const { id, number, head, base } = pullRequest
  const repo = { id: repository.id, url: apiUrl(urls, repository), name: repository.name }
  const url = `${apiUrl(urls, repository)}/pulls/${number}`
  return [{ id, number, url, head: { ...head, repo }, base: { ...base, repo } }]
}

export function workflowObject(urls: Urls, repository: Repository, workflow: Workflow) {
  const page = pageUrl(urls, repository)
  return {
    id: workflow.id,
    node_id: `W_${workflow.id}`,
    name: workflow.name,
    path: workflow.path,
    state: 'active',
    created_at: workflow.created_at,
    updated_at: workflow.created_at,
    url: `${apiUrl(urls, repository)}/actions/workflows/${workflow.id}`,
    html_url: `${page}/blob/${repository.default_branch}/${workflow.path}`,
    badge_url: `${page}/workflows/${encodeURIComponent(workflow.name)}/badge.svg`,
  }
}

export function jobObject(urls: Urls, run: Run, job: Job) {
  const url = apiUrl(urls, run.repository)
  const onRunner = job.started_at !== null
  return {
    id: job.id,
    run_id: run.id,
    workflow_name: run.workflow.name,
    head_branch: run.branch,
    run_url: `${url}/actions/runs/${run.id}`,
    run_attempt: job.attempt,
    node_id: `CR_${job.id}`,
    head_sha: run.sha,
    url: `${url}/actions/jobs/${job.id}`,
    html_url: `${pageUrl(urls, run.repository)}/actions/runs/${run.id}/job/${job.id}`,
    status: job.status,
    conclusion: job.conclusion,
    created_at: createdAt(job),
    started_at: job.started_at ?? createdAt(job),
    completed_at: job.completed_at,
    name: job.name,
    steps: onRunner ? stepsOf(job) : [],
    check_run_url: `${url}/check-runs/${job.id}`,
    labels: ['ubuntu-latest'],
    runner_id: onRunner ? 7 : null,
    runner_name: onRunner ? 'GitHub Actions 7' : null,
    runner_group_id: onRunner ? 2 : null,
    runner_group_name: onRunner ? 'GitHub Actions' : null,
  }
}

/** GitHub makes a job when those that it needs are finished. */
export function createdAt({ begun_at, created_at }: Job): Date {
  return begun_at ?? created_at
}

/** Steps have fewer conclusions than jobs. */
const STEP_CONCLUSIONS: Partial<Record<Conclusion, string>> = {
  success: 'success',
  cancelled: 'cancelled',
  skipped: 'skipped',
}

function stepsOf(job: Job) {
  const { started_at, completed_at } = job
  return job.steps.map(({ name, conclusion }, index) => ({
    name,
    status: conclusion === null ? 'in_progress' : 'completed',
    conclusion: conclusion === null ? null : (STEP_CONCLUSIONS[conclusion] ?? 'failure'),
    number: index + 1,
    started_at,
    completed_at: conclusion === null ? null : completed_at,
  }))
}
