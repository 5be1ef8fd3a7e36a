import { type Static, Type } from 'typebox'
import { isLoopback } from '../../../platform/loopback.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostAnnotation, HostJob } from '../../host-run.ts'
import { fetchLogEnd, readEnd } from '../../kit/fetch-log-end.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import type { GithubApi } from './client.ts'
import { parseStatus } from './runs.ts'

export function createJobReads(api: GithubApi): Pick<HostReader, 'listJobs' | 'listAnnotations' | 'readJobLog'> {
  return {
    listJobs: (repository, runId, attempt) =>
      api.readAll(
        'GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs',
        { repository, run_id: runId, attempt_number: attempt },
        (job) => parseJob(job, repository),
      ),

    /** A job is also a check run with the same id. */
    listAnnotations: (repository, jobId) =>
      api.readAll(
        'GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations',
        { repository, check_run_id: jobId },
        parseAnnotation,
      ),

    readJobLog: (repository, jobId, bytesMax) => fetchJobLog(api, repository, jobId, bytesMax),
  }
}

/**
 * The end of a job's log. GitHub answers with the address of a file in its storage, which is read
 * without our token. The address comes from GitHub over the authenticated connection. It is read
 * only if it leads to a host of GitHub's storage, so that it cannot lead into our own network.
 */
async function fetchJobLog(
  api: GithubApi,
  repository: HostRepository,
  jobId: string,
  bytesMax: number,
): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs'
  const log = await api.openStream(route, { repository, job_id: jobId })
  if (log === null) return null
  if (log.ok && log.body !== null) return readEnd(log.body, bytesMax)
  const { api_url } = await api.app()
  const location = log.headers.get('location') ?? ''
  const address = URL.canParse(location) ? new URL(location) : null
  if (address === null || !isLogAddress(address, new URL(api_url))) {
    api.log.warn({ host: address?.host }, 'The log of a job is not read: its host is not one of GitHub')
    return null
  }
  return fetchLogEnd(address, bytesMax)
}

/** The hosts that keep logs: GitHub's own, and the storage that it rents. */
const LOG_HOSTS = ['.actions.githubusercontent.com', '.blob.core.windows.net']

/** The host of the API is always allowed: an Enterprise Server can keep the logs itself. */
export function isLogAddress(address: URL, api: URL): boolean {
  const isLocal = isLoopback(address.hostname) && isLoopback(api.hostname)
  if (address.protocol !== 'https:' && !(isLocal && address.protocol === 'http:')) return false
  if (isLocal || address.hostname === api.hostname) return true
  return LOG_HOSTS.some((suffix) => address.hostname.endsWith(suffix))
}

export const WorkflowJob = Type.Object({
  id: Id,
  run_id: Id,
  run_attempt: Maybe(Id),
  name: Text,
  status: Maybe(Text),
  conclusion: Maybe(Text),
  started_at: Maybe(Timestamp),
  completed_at: Maybe(Timestamp),
  html_url: Maybe(Text),
  runner_name: Maybe(Text),
  steps: Maybe(Type.Array(Type.Object({ number: Id, name: Text, status: Maybe(Text), conclusion: Maybe(Text) }))),
})

export function toHostJob(job: Static<typeof WorkflowJob>, repository: HostRepository): HostJob {
  const status = parseStatus(job.status, job.conclusion)
  const failed = (job.steps ?? []).filter((step) => parseStatus(step.status, step.conclusion) === 'failure')
  return {
    repository,
    run_id: String(job.run_id),
    attempt: job.run_attempt || 1,
    id: String(job.id),
    name: job.name,
    status,
    // GitHub fills it with the creation of the job until the job starts.
    started_at: status === 'queued' ? null : parseDate(job.started_at),
    completed_at: job.status === 'completed' ? parseDate(job.completed_at) : null,
    html_url: parseText(job.html_url),
    runner: parseText(job.runner_name),
    failed_steps: failed.map(({ number, name }) => ({ number, name })),
  }
}

export function parseJob(value: unknown, repository: HostRepository): HostJob {
  return toHostJob(readAs(WorkflowJob, value), repository)
}

const Annotation = Type.Object({
  annotation_level: Maybe(Text),
  title: Maybe(Text),
  message: Maybe(Text),
  path: Maybe(Text),
  start_line: Maybe(Id),
})

const LEVELS: Readonly<Record<string, HostAnnotation['level']>> = { failure: 'error', warning: 'warning' }

export function parseAnnotation(value: unknown): HostAnnotation {
  const annotation = readAs(Annotation, value)
  return {
    level: LEVELS[annotation.annotation_level ?? ''] ?? 'notice',
    title: parseText(annotation.title),
    message: parseText(annotation.message) ?? '',
    path: parseText(annotation.path),
    line: annotation.start_line ?? null,
  }
}
