import { createHash } from 'node:crypto'
import type { FailedDelivery, HostInstallation, ListOptions, ListResult } from '../../src/codehosts/code-host.ts'
import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import type { HostPullRequest, HostPush, HostReview } from '../../src/codehosts/host-change.ts'
import type { HostDeployment, HostDeploymentStatus } from '../../src/codehosts/host-deployment.ts'
import type { HostRepository } from '../../src/codehosts/host-repository.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import { fakeCodeHost } from './fake-client.ts'

/** What the host has. Lists are given in any order; the host sorts them. */
export type HostState = {
  repositories: HostRepository[]
  runs: HostRun[]
  deployments: HostDeployment[]
  statuses: HostDeploymentStatus[]
  alerts: HostAlert[]
  pullRequests: HostPullRequest[]
  pushes: HostPush[]
  reviews: HostReview[]
  failedDeliveries: FailedDelivery[]
}

/** A request, as `<method> <repository or id>`, with the part of the list that it asked for. */
export type HostRequest = { name: string; options: ListOptions }

/**
 * A code host in memory that answers page by page, with versions of its pages. `requests` holds
 * what it was asked. `before` is called before each answer and may fail or delay it.
 */
export function pagedHost(given: Partial<HostState>, pageSize = 2) {
  const state: HostState = { ...EMPTY, ...given }
  const requests: HostRequest[] = []
  const redelivered: string[] = []
  const hooks = {
    before: async (_request: HostRequest): Promise<void> => {},
    /** Changes which page follows. */
    next: (_request: HostRequest, next: string | null): string | null => next,
  }
  let installation: HostInstallation | null = null

  const ask = async (name: string, options: ListOptions = {}) => {
    requests.push({ name, options })
    await hooks.before({ name, options })
  }
  const list = async <Item>(name: string, options: ListOptions, items: Item[]): Promise<ListResult<Item>> => {
    await ask(name, options)
    const page = pageOf(items, options, pageSize)
    return page === 'not_modified' ? page : { ...page, next: hooks.next({ name, options }, page.next) }
  }
  const { codeHosts, answers } = fakeCodeHost({
    readInstallation: async () => installation,
    listFailed: async (since) => {
      await ask('listFailedDeliveries')
      return state.failedDeliveries.filter(({ delivered_at }) => delivered_at >= since)
    },
    repeat: async (id) => {
      await ask(`redeliver ${id}`)
      redelivered.push(id)
    },
    listRepositories: (options) => list('listRepositories', options, state.repositories),
    listRuns: ({ id }, options) =>
      list(
        `listRuns ${id}`,
        options,
        newestFirst(of(state.runs, id), ({ created_at }) => created_at),
      ),
    readRun: async (_, runId) => {
      await ask(`readRun ${runId}`)
      return state.runs.find(({ id }) => id === runId) ?? null
    },
    listDeployments: ({ id }, options) =>
      list(
        `listDeployments ${id}`,
        options,
        newestFirst(of(state.deployments, id), ({ created_at }) => created_at),
      ),
    listDeploymentStatuses: async ({ id }) => {
      await ask(`listDeploymentStatuses ${id}`)
      return state.statuses.filter(({ deployment }) => deployment.id === id)
    },
    listAlerts: ({ id }, type, options) => {
      const alerts = of(state.alerts, id).filter((alert) => alert.type === type)
      return list(
        `listAlerts ${id} ${type}`,
        options,
        newestFirst(alerts, ({ updated_at }) => updated_at),
      )
    },
    listPullRequests: ({ id }, options) =>
      list(
        `listPullRequests ${id}`,
        options,
        newestFirst(of(state.pullRequests, id), ({ updated_at }) => updated_at),
      ),
    listPushes: ({ id }, branch, options) => {
      const pushes = of(state.pushes, id).filter(({ ref }) => ref === `refs/heads/${branch}`)
      return list(
        `listPushes ${id}`,
        options,
        newestFirst(pushes, ({ pushed_at }) => pushed_at),
      )
    },
    listReviews: async ({ id }, number) => {
      await ask(`listReviews ${id} ${number}`)
      return of(state.reviews, id).filter(({ pull_request }) => pull_request === number)
    },
  })
  const setInstallation = (told: HostInstallation) => {
    installation = told
  }
  return { codeHosts, answers, state, requests, redelivered, hooks, setInstallation }
}

const EMPTY: HostState = {
  repositories: [],
  runs: [],
  deployments: [],
  statuses: [],
  alerts: [],
  pullRequests: [],
  pushes: [],
  reviews: [],
  failedDeliveries: [],
}

function of<Item extends { repository: HostRepository }>(items: Item[], repositoryId: string): Item[] {
  return items.filter(({ repository }) => repository.id === repositoryId)
}

function newestFirst<Item>(items: Item[], at: (item: Item) => Date): Item[] {
  return items.toSorted((a, b) => at(b).getTime() - at(a).getTime())
}

function pageOf<Item>(items: Item[], { next = '0', etag }: ListOptions, size: number): ListResult<Item> {
  const end = Number(next) + size
  const page = items.slice(Number(next), end)
  const version = createHash('sha256').update(JSON.stringify(page)).digest('hex')
  if (etag === version) return 'not_modified'
  return { items: page, next: end < items.length ? String(end) : null, etag: version }
}
