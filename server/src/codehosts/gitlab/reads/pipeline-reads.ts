import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostRun } from '../../host-run.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { jobOf, parseFailureReason, parseJob } from '../objects/job.parser.ts'
import { type PipelineFacts, parsePipeline, parseSource, runOf } from '../objects/pipeline.parser.ts'
import { jobsOfAttempt } from '../objects/pipeline-attempts.ts'
import { isExternal, mergeRequestOf } from '../objects/pipeline-words.ts'
import { readJobLog } from './read-job-log.ts'
import { readWorkflow } from './read-workflow.ts'

type PipelineReads = Pick<
  HostReader,
  'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations' | 'readJobLog' | 'readWorkflow'
>

export function pipelineReads(session: Session): PipelineReads {
  const { api } = session
  return {
    listRuns: (repository, options) => listRuns(session, repository, options),

    async readRun(repository, runId, attempt) {
      const facts = await readFacts(session, repository, runId)
      return facts && runOf(facts, attempt)
    },

    async listJobs(repository, runId, attempt) {
      const path = pipelinePath(repository, runId)
      const jobs = await api.readAll(`${path}/jobs`, { include_retried: true }, parseJob)
      const bridges = await api.readAll(`${path}/bridges`, {}, parseJob)
      const own = [...jobsOfAttempt(jobs, attempt), ...bridges]
      return own.map((job) => jobOf(job, { repository, run_id: runId, attempt }))
    },

    async listAnnotations(repository, jobId) {
      const job = await api.read(`${projectPath(repository)}${restPath`/jobs/${jobId}`}`)
      const reason = job && api.parseItem(job, parseFailureReason)
      return reason ? [reason] : []
    },

    readJobLog: (repository, jobId, bytesMax) => readJobLog(api, repository, jobId, bytesMax),

    readWorkflow: readWorkflow(session),
  }
}

/** Each pipeline of the list is read, because the list contains neither its times nor its user. */
const PIPELINES_AT_ONCE = 20

async function listRuns(
  session: Session,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostRun>> {
  const request = { path: `${projectPath(repository)}/pipelines`, options, pageItems: PIPELINES_AT_ONCE }
  const page = await session.api.readPage({ ...request, query: { order_by: 'id', sort: 'desc' } }, parsePipeline)
  if (page === 'not_modified') return page
  const { since } = options
  const wanted = page.items.filter(({ created_at }) => since === undefined || new Date(created_at) >= since)
  const own = wanted.filter(({ source }) => !isExternal(source))
  const facts = await Promise.all(own.map(({ id }) => readFacts(session, repository, String(id))))
  const items = facts.flatMap((found) => (found && runOf(found)) ?? [])
  return { ...page, items, next: wanted.length < page.items.length ? null : page.next }
}

/** Null for a pipeline that does not exist, or that only contains statuses of other services. */
async function readFacts(session: Session, repository: HostRepository, runId: string): Promise<PipelineFacts | null> {
  const { api } = session
  const path = pipelinePath(repository, runId)
  const found = await api.read(path)
  const pipeline = found && parsePipeline(found)
  if (!pipeline || isExternal(pipeline.source)) return null
  const jobs = await api.readAll(`${path}/jobs`, { include_retried: true }, parseJob)
  const source = await readSource(session, repository, mergeRequestOf(pipeline.ref))
  const { ci_config_path: configPath } = await session.settings(repository)
  return { repository, pipeline, jobs, source, configPath }
}

async function readSource(
  { api }: Session,
  repository: HostRepository,
  number: number | null,
): Promise<PipelineFacts['source']> {
  if (number === null) return null
  const found = await api.read(`${projectPath(repository)}${restPath`/merge_requests/${number}`}`)
  return found && parseSource(found)
}

function pipelinePath(repository: HostRepository, runId: string): string {
  return `${projectPath(repository)}${restPath`/pipelines/${runId}`}`
}
