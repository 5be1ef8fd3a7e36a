import { Type } from 'typebox'
import type { HostReader, ListOptions, ListResult } from '../../../code-host.ts'
import type { HostRepository } from '../../../host-repository.ts'
import type { HostRun } from '../../../host-run.ts'
import { Id, readAs } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import { type AzureApi, valuesOf } from '../client.ts'
import { AZURE_REPOS, type Build, isOf, parseBuild, runOf } from '../runs.ts'
import { type BuildName, type JobName, parseJobId, parseRunId } from '../objects/run-id.ts'
import { annotationsOf, attemptOf, jobOf, type Timeline, type TimelineRecord } from '../jobs.ts'
import { jobsAt, readAttempt, readTimeline } from './build-attempts.ts'

type RunReads = Pick<HostReader, 'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations' | 'readJobLog'>

/** Small, because the attempts of each run of a page are read too. */
const PAGE_RUNS = 50
/** The lines that are read of a log, from its end. */
const LOG_LINES_MAX = 2000

export function runReads(api: AzureApi): RunReads {
  return {
    listRuns: (repository, options) => listRuns(api, repository, options),

    async readRun(repository, runId, attempt) {
      const name = parseRunId(runId)
      const build = name && (await readBuild(api, name))
      return build && isOf(build, repository) ? withAttempt(api, build, repository, attempt) : null
    },

    async listJobs(repository, runId, attempt) {
      const build = parseRunId(runId)
      const timeline = build && (await readTimeline(api, build))
      if (!timeline) return []
      const url = runUrl(repository, build)
      const jobs = await jobsAt(api, build, timeline, attempt)
      return jobs.map((found) => jobOf(found.job, found.timeline, { repository, build, attempt, url }))
    },

    async listAnnotations(_, jobId) {
      const found = await readJob(api, jobId)
      return found === null ? [] : annotationsOf(found.job, found.timeline)
    },

    async readJobLog(_, jobId, bytesMax) {
      const name = parseJobId(jobId)
      const found = await readJob(api, jobId)
      const log = found?.job.log?.id
      return name === null || log === undefined ? null : readLog(api, name, log, bytesMax)
    },
  }
}

async function listRuns(
  api: AzureApi,
  repository: HostRepository,
  { since, next }: ListOptions,
): Promise<ListResult<HostRun>> {
  const project = await api.projectOf(repository)
  const query = {
    repositoryId: repository.id,
    repositoryType: AZURE_REPOS,
    queryOrder: 'queueTimeDescending',
    $top: PAGE_RUNS,
    minTime: since?.toISOString(),
  }
  const page = project && (await api.readPage({ path: restPath`/${project}/_apis/build/builds`, query }, next))
  if (!page) return { items: [], next: null, etag: null }
  const builds = api.parseItems(page.values, parseBuild).filter((build) => isOf(build, repository))
  const items = await Promise.all(builds.map((build) => withAttempt(api, build, repository)))
  return { items, next: page.next, etag: LISTED }
}

/** Azure DevOps has no versions of lists. A version that never fits tells a list from a refusal. */
export const LISTED = 'listed'

async function withAttempt(
  api: AzureApi,
  build: Build,
  repository: HostRepository,
  attempt?: number,
): Promise<HostRun> {
  const timeline = await readTimeline(api, { project: build.project.id.toLowerCase(), build: build.id })
  return runOf(build, await readAttempt(api, build, timeline, attempt), repository)
}

/** Null if the build does not exist. */
export async function readBuild(api: AzureApi, { project, build }: BuildName): Promise<Build | null> {
  const found = await api.read({ path: restPath`/${project}/_apis/build/builds/${build}` })
  return found === null ? null : parseBuild(found)
}

/** The builds of a repository with these ids. */
export async function readBuilds(
  api: AzureApi,
  repository: HostRepository,
  project: string,
  ids: readonly number[],
): Promise<Build[]> {
  if (ids.length === 0) return []
  const request = { path: restPath`/${project}/_apis/build/builds`, query: { buildIds: ids.join(',') } }
  return (await api.readAll(request, parseBuild)).filter((build) => isOf(build, repository))
}

function runUrl({ html_url: url }: HostRepository, { build }: BuildName): string | null {
  return url === null ? null : url.replace(/\/_git\/.*$/s, `/_build/results?buildId=${build}`)
}

/** A job in the attempt that its id names. */
async function readJob(api: AzureApi, jobId: string): Promise<{ job: TimelineRecord; timeline: Timeline } | null> {
  const name = parseJobId(jobId)
  const timeline = name && (await readTimeline(api, name))
  if (!timeline) return null
  const jobs = await jobsAt(api, name, timeline, name.attempt)
  return jobs.find(({ job }) => job.id.toLowerCase() === name.record && attemptOf(job) === name.attempt) ?? null
}

const Logs = Type.Object({ id: Id, lineCount: Id })

/** The end of a log. Null if it was deleted. */
async function readLog(
  api: AzureApi,
  { project, build }: JobName,
  log: number,
  bytesMax: number,
): Promise<string | null> {
  const path = restPath`/${project}/_apis/build/builds/${build}/logs`
  const logs = await api.readAll({ path }, (value) => readAs(Logs, value))
  const lines = logs.find(({ id }) => id === log)?.lineCount
  if (lines === undefined) return null
  const startLine = Math.max(0, lines - LOG_LINES_MAX)
  const body = await api.read({ path: path + restPath`/${log}`, query: { startLine } })
  if (body === null) return null
  const text = Buffer.from(typeof body === 'string' ? body : valuesOf(body).join('\n'))
  return text.subarray(Math.max(0, text.length - bytesMax)).toString()
}
