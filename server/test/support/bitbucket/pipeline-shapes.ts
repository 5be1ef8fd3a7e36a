import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { Conclusion, Deployment, Job, Run } from '../hosts/types.ts'
import { fullName } from '../hosts/world.ts'
import type { Json } from '../json.ts'
import { accountJson, braced, HTML, repositoryName, shortHash } from './shapes.ts'

const RESULTS: Readonly<Record<Conclusion, string>> = {
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  cancelled: 'STOPPED',
  timed_out: 'EXPIRED',
  skipped: 'NOT_RUN',
  neutral: 'SUCCESSFUL',
  action_required: 'FAILED',
}

export function pipelineJson(run: Run): Json {
  const attempt = lastAttempt(run)
  const { repository, event, index } = run
  const trigger = { schedule: 'SCHEDULE', manual: 'MANUAL', workflow: 'PARENT_STEP' }[event as string] ?? 'PUSH'
  return {
    type: 'pipeline',
    uuid: braced(run.uuid),
    build_number: index,
    run_number: attempt.number,
    run_creation_date: attempt.started_at.toISOString(),
    creator: accountJson(attempt.actor),
    repository: repositoryName(repository),
    target: targetJson(run),
    trigger: { type: `pipeline_trigger_${trigger.toLowerCase()}`, name: trigger },
    state: stateJson('pipeline_state', attempt.status, attempt.conclusion),
    created_on: run.created_at.toISOString(),
    completed_on: attempt.completed_at?.toISOString(),
    build_seconds_used: 0,
    links: { self: { href: `https://api.bitbucket.org/2.0/repositories/${fullName(repository)}/pipelines/${index}` } },
  }
}

function targetJson({ pullRequest, sha, branch, event, workflow }: Run): Json {
  const commit = { type: 'commit', hash: sha }
  if (pullRequest !== null)
    return {
      type: 'pipeline_pullrequest_target',
      source: pullRequest.head.ref,
      destination: pullRequest.base.ref,
      destination_commit: { hash: shortHash(pullRequest.base.sha) },
      commit,
      selector: { type: 'pull-requests', pattern: '**' },
      pullrequest: { type: 'pullrequest', id: pullRequest.number, title: pullRequest.title, draft: false },
    }
  const isTag = branch.startsWith('refs/tags/')
  const selector =
    event === 'manual' ? { type: 'custom', pattern: workflow.name } : { type: 'branches', pattern: branch }
  return {
    type: 'pipeline_ref_target',
    ref_type: isTag ? 'tag' : 'branch',
    ref_name: branch.replace('refs/tags/', ''),
    commit,
    selector: isTag ? { type: 'tags', pattern: '*' } : selector,
  }
}

function stateJson(type: string, status: string | null, conclusion: Conclusion | null): Json {
  if (conclusion !== null) {
    const name = RESULTS[conclusion]
    const result = { type: `${type}_completed_${name.toLowerCase()}`, name }
    return { type: `${type}_completed`, name: 'COMPLETED', result }
  }
  if (status === 'in_progress')
    return {
      type: `${type}_in_progress`,
      name: 'IN_PROGRESS',
      stage: { type: `${type}_in_progress_running`, name: 'RUNNING' },
    }
  if (status === 'waiting' && type === 'pipeline_state')
    return {
      type: `${type}_in_progress`,
      name: 'IN_PROGRESS',
      stage: { type: `${type}_in_progress_paused`, name: 'PAUSED' },
    }
  return { type: `${type}_pending`, name: 'PENDING' }
}

export function stepJson(job: Job): Json {
  return {
    type: 'pipeline_step',
    uuid: braced(job.uuid),
    name: job.name,
    run_number: job.attempt,
    state: stateJson('pipeline_step_state', job.status, job.conclusion),
    started_on: job.started_at?.toISOString(),
    completed_on: job.completed_at?.toISOString(),
  }
}

export function pipelineUrl(run: Run): string {
  return `${HTML}/${fullName(run.repository)}/addon/pipelines/home#!/results/${run.index}`
}

/** Answers of the API call the times otherwise than its description. */
export function deploymentJson(deployment: Deployment): Json {
  const { run, job, environment, sha } = deployment
  const release = {
    type: 'deployment_release',
    uuid: braced(run.uuid),
    name: `#${run.index}`,
    url: pipelineUrl(run),
    commit: { type: 'commit', hash: sha },
    pipeline: { type: 'pipeline', uuid: braced(run.uuid) },
    created_on: deployment.created_at.toISOString(),
  }
  return {
    type: 'deployment',
    uuid: braced(deployment.uuid),
    number: deployment.number,
    environment: { type: 'deployment_environment', uuid: braced(environment.uuid) },
    release,
    deployable: { ...release, type: 'deployment_release' },
    step: { type: 'pipeline_step', uuid: braced(job.uuid) },
    last_update_time: deployment.updated_at.toISOString(),
    state: deploymentState(deployment),
  }
}

const DEPLOYED = { success: 'SUCCESSFUL', inactive: 'SUCCESSFUL', failure: 'FAILED', cancelled: 'STOPPED' }

function deploymentState(deployment: Deployment): Json {
  const started = startOf(deployment)
  if (started === null) return { type: 'deployment_state_undeployed', name: 'UNDEPLOYED' }
  const ended = deployment.statuses.find(({ state }) => state in DEPLOYED)
  const about = {
    deployer: accountJson(deployment.creator),
    started_on: started.toISOString(),
    url: pipelineUrl(deployment.run),
  }
  if (ended === undefined) return { type: 'deployment_state_in_progress', name: 'IN_PROGRESS', ...about }
  const name = DEPLOYED[ended.state as keyof typeof DEPLOYED]
  const status = { type: `deployment_state_completed_status_${name.toLowerCase()}`, name }
  return {
    type: 'deployment_state_completed',
    name: 'COMPLETED',
    ...about,
    status,
    completed_on: ended.created_at.toISOString(),
  }
}

/** Null if nobody has started it. */
export function startOf({ statuses }: Deployment): Date | null {
  return statuses.find(({ state }) => state !== 'waiting' && state !== 'queued')?.created_at ?? null
}
