import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { CommitStatus, Repository, Run } from '../hosts/types.ts'
import { fullName } from '../hosts/world.ts'
import type { Json } from '../json.ts'
import { pipelineUrl } from './pipeline-shapes.ts'
import { commitJson, HTML, repositoryName, timestamp } from './shapes.ts'

const STATES = { success: 'SUCCESSFUL', failure: 'FAILED', pending: 'INPROGRESS' } as const

/** The build statuses of a commit: those of its pipelines, and those that others wrote. */
export function buildStatusesOf(repository: Repository, sha: string): Json[] {
  const pipelines = repository.runs.filter((run) => run.sha === sha).map(pipelineStatusJson)
  return [
    ...pipelines,
    ...repository.statuses.filter((one) => one.sha === sha).map((one) => statusJson(repository, one)),
  ]
}

export function statusJson(repository: Repository, status: CommitStatus): Json {
  return {
    ...aboutCommit(repository, status.sha),
    key: status.context.slice(0, 40),
    name: status.context,
    state: STATES[status.state],
    description: status.description ?? '',
    url: status.target_url ?? HTML,
    created_on: timestamp(status.created_at),
    updated_on: timestamp(status.updated_at),
  }
}

/** What Pipelines itself reports. */
export function pipelineStatusJson(run: Run): Json {
  const attempt = lastAttempt(run)
  const ended = attempt.conclusion === 'success' || attempt.conclusion === 'skipped' ? 'SUCCESSFUL' : 'FAILED'
  const state = attempt.conclusion === null ? 'INPROGRESS' : attempt.conclusion === 'cancelled' ? 'STOPPED' : ended
  return {
    ...aboutCommit(run.repository, run.sha),
    key: `-18${String(run.index).padStart(8, '0')}`,
    name: `Pipeline #${run.index} for ${run.branch}`,
    refname: run.branch,
    state,
    description: '',
    url: pipelineUrl(run),
    created_on: timestamp(run.created_at),
    updated_on: timestamp(attempt.updated_at),
  }
}

function aboutCommit(repository: Repository, sha: string): Json {
  const commit = repository.commits.get(sha)
  return {
    type: 'build',
    repository: repositoryName(repository),
    commit: commit === undefined ? { type: 'commit', hash: sha } : commitJson(repository, commit),
    links: { commit: { href: `https://api.bitbucket.org/2.0/repositories/${fullName(repository)}/commit/${sha}` } },
  }
}
