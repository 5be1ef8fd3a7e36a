import { Type } from 'typebox'
import { DAY_MS } from '../../../platform/clock.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostPullRequest } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { readAs, Text } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { type AzureApi, valuesOf } from './client.ts'
import { type PullRequest, parsePullRequest, pullRequestOf } from './objects/pull-request.parser.ts'
import { lastChange } from './reviews.ts'
import { readThreads } from './reads/read-threads.ts'
import { LISTED } from './reads/run-reads.ts'

const PAGE_ITEMS = 100
const PAGES_MAX = 20
/**
 * The ages of closed pull requests that a page ends at, in days. The last page has all older ones.
 */
const WINDOWS = [1, 7, 30, 90, 365, null]

/**
 * Azure DevOps cannot sort pull requests by their newest change. The first page has all that are
 * open, and then those that were closed lately. Each further page has those of a longer time
 * before. `next` is the number of the window and the time that windows are counted from.
 */
export function listPullRequests(api: AzureApi): HostReader['listPullRequests'] {
  return async (repository, { next }) => {
    const path = await pathOf(api, repository)
    if (path === null) return { items: [], next: null, etag: null }
    const cursor = next ? readAs(Cursor, JSON.parse(next)) : { window: 0, from: api.now().toISOString() }
    const open = next ? [] : await listOpen(api, repository, path)
    if (open === null) return { items: [], next: null, etag: null }
    // The last item of a page says how far the list was read, so a page ends with a closed one.
    for (let { window } = cursor; ; window += 1) {
      const closed = await listClosed(api, repository, path, spanOf(window, new Date(cursor.from)))
      const following = window + 1 < WINDOWS.length ? JSON.stringify({ ...cursor, window: window + 1 }) : null
      if (closed.length > 0 || following === null) return { items: [...open, ...closed], next: following, etag: LISTED }
    }
  }
}

const Cursor = Type.Object({
  window: Type.Integer({ minimum: 0, maximum: WINDOWS.length - 1 }),
  from: Text,
})

async function pathOf(api: AzureApi, { id }: HostRepository): Promise<string | null> {
  const project = await api.projectOf({ id })
  return project && restPath`/${project}/_apis/git/repositories/${id}/pullrequests`
}

type Span = { minTime: string | undefined; maxTime: string | undefined }

function spanOf(window: number, from: Date): Span {
  const before = (days: number | null | undefined) =>
    days === null || days === undefined ? undefined : new Date(from.getTime() - days * DAY_MS).toISOString()
  return { minTime: before(WINDOWS[window]), maxTime: window === 0 ? undefined : before(WINDOWS[window - 1]) }
}

async function listOpen(api: AzureApi, repository: HostRepository, path: string): Promise<HostPullRequest[] | null> {
  const pulls = await readAllOf(api, path, { 'searchCriteria.status': 'active' })
  if (pulls === null) return null
  const read = pulls.map(async (pull) =>
    pullRequestOf(pull, lastChange(await readThreads(api, repository, pull.pullRequestId)), repository),
  )
  return (await Promise.all(read)).sort(byChange)
}

async function listClosed(
  api: AzureApi,
  repository: HostRepository,
  path: string,
  { minTime, maxTime }: Span,
): Promise<HostPullRequest[]> {
  const closed = ['completed', 'abandoned'].map((status) =>
    readAllOf(api, path, {
      'searchCriteria.status': status,
      'searchCriteria.queryTimeRangeType': 'closed',
      'searchCriteria.minTime': minTime,
      'searchCriteria.maxTime': maxTime,
    }),
  )
  const pulls = (await Promise.all(closed)).flatMap((list) => list ?? [])
  return pulls.map((pull) => pullRequestOf(pull, null, repository)).sort(byChange)
}

function byChange(one: HostPullRequest, other: HostPullRequest): number {
  return other.updated_at.getTime() - one.updated_at.getTime()
}

/** Null without access to the list. */
async function readAllOf(
  api: AzureApi,
  path: string,
  criteria: Record<string, string | undefined>,
): Promise<PullRequest[] | null> {
  const pulls: PullRequest[] = []
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const body = await api.read({ path, query: { ...criteria, $top: PAGE_ITEMS, $skip: pages * PAGE_ITEMS } })
    if (body === null) return null
    const values = valuesOf(body)
    pulls.push(...api.parseItems(values, parsePullRequest))
    if (values.length < PAGE_ITEMS) break
  }
  return pulls
}
