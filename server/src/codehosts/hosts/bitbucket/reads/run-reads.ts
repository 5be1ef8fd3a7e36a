import { type HostReader, pageSince } from '../../../code-host.ts'
import type { HostRepository } from '../../../host-repository.ts'
import type { HostJob, HostRun } from '../../../host-run.ts'
import type { BitbucketApi } from '../client.ts'
import { parsePipeline, parseStep } from '../runs.ts'
import { readStepLog } from './read-step-log.ts'

type RunReads = Pick<HostReader, 'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations' | 'readJobLog'>

export function runReads(api: BitbucketApi): RunReads {
  return {
    async listRuns(repository, options) {
      const list = { path: api.pathOf(repository, '/pipelines'), query: { sort: '-created_on' } }
      const page = await api.readPage(list, options, (value) => parsePipeline(value, repository))
      return pageSince(page, options.since)
    },

    async readRun(repository, runId, attempt) {
      const run = await readPipeline(api, repository, runId)
      return run === null || attempt === undefined || run.attempt === attempt ? run : null
    },

    async listJobs(repository, runId, attempt) {
      const run = await readPipeline(api, repository, runId)
      return run === null ? [] : listSteps(api, run, attempt)
    },

    /** Bitbucket attaches no messages to steps. */
    listAnnotations: async () => [],

    readJobLog: (repository, jobId, bytesMax) => readStepLog(api, repository, jobId, bytesMax),
  }
}

async function readPipeline(api: BitbucketApi, repository: HostRepository, name: string): Promise<HostRun | null> {
  const found = await api.read(api.pipelinePath(repository, name))
  return found && parsePipeline(found, repository)
}

/** The steps that ran in this attempt or in an earlier one, whose results it took over. */
async function listSteps(api: BitbucketApi, run: HostRun, attempt: number): Promise<HostJob[]> {
  const path = `${api.pipelinePath(run.repository, run.id)}/steps`
  const { values } = (await api.readList({ path })) ?? { values: [] }
  const steps = values.flatMap((value, index) => {
    const place = { repository: run.repository, run, position: index + 1 }
    return api.parseItem(value, (step) => parseStep(step, place)) ?? []
  })
  return steps.filter((step) => step.attempt <= attempt)
}
