import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostRun } from '../../host-run.ts'
import type { GithubApi } from '../client/github-api.ts'
import { itemsOf, PAGE_ITEMS, type RawPage } from '../client/page.ts'
import { parseAnnotation, parseJob, parseRun } from '../objects/run.parser.ts'

type RunReads = Pick<HostReader, 'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations'>

export function runReads(api: GithubApi): RunReads {
  return {
    listRuns: (repository, options) => listRuns(api, repository, options),

    async readRun(repository, runId, attempt) {
      const parameters = { repository, run_id: runId, attempt_number: attempt }
      const route = `GET /repos/{owner}/{repo}/actions/runs/{run_id}`
      const run = await api.read(attempt === undefined ? route : `${route}/attempts/{attempt_number}`, parameters)
      return run && parseRun(run, repository)
    },

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
  }
}

/** GitHub ends a list of runs here, and may not count further. */
const SEARCH_ITEMS_MAX = 1000

/**
 * Lists runs in windows of time. Where GitHub ends a list early, it is continued with the runs
 * created up to the last one; `next` holds that time (`until`) beside the page. Runs of the same
 * second are listed twice.
 */
async function listRuns(
  api: GithubApi,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostRun>> {
  const until = new URLSearchParams(options.next).get('until')
  const parameters = { repository, ...createdBetween(options.since, until) }
  const page = await api.requestPage('GET /repos/{owner}/{repo}/actions/runs', parameters, options)
  if (page === null) return { items: [], next: null, etag: null }
  if (page === 'not_modified') return page
  const values = itemsOf(page.data)
  const items = api.parseItems(values, (run) => parseRun(run, repository))
  return { items, next: nextOf(page, { until, values, items, next: options.next }), etag: page.etag }
}

function createdBetween(since: Date | undefined, until: string | null): { created?: string } {
  if (since === undefined && until === null) return {}
  if (until === null) return { created: `>=${secondOf(since as Date)}` }
  return { created: since === undefined ? `<=${until}` : `${secondOf(since)}..${until}` }
}

type Listed = { until: string | null; values: unknown[]; items: HostRun[]; next: string | undefined }

function nextOf(page: RawPage, { until, values, items, next }: Listed): string | null {
  if (page.next !== null) return withUntil(page.next, until)
  const total = Number((page.data as { total_count?: unknown }).total_count ?? 0)
  const listed = (Number(new URLSearchParams(next).get('page') ?? 1) - 1) * PAGE_ITEMS + values.length
  const oldest = items.at(-1)
  if (oldest === undefined || (listed >= total && listed < SEARCH_ITEMS_MAX)) return null
  return withUntil('page=1', earlier(secondOf(oldest.created_at), until))
}

function withUntil(page: string, until: string | null): string {
  return until === null ? page : `${page}&${new URLSearchParams({ until })}`
}

/** The window has to move on: if all of its runs are of one second, to the second before. */
function earlier(second: string, until: string | null): string {
  return second === until ? secondOf(new Date(Date.parse(second) - 1000)) : second
}

/** GitHub's times have no fractions of a second. */
function secondOf(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}
