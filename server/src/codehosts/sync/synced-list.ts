import { DAY_MS } from '../../platform/clock.ts'
import type { HostClient, HostPage, ListOptions, ListResult } from '../code-host.ts'
import { getAlertListName, HOST_ALERT_TYPES, type HostAlertType } from '../host-alert.ts'
import type { HostPullRequest, HostPush } from '../host-change.ts'
import type { HostDeployment } from '../host-deployment.ts'
import type { HostEvent } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import type { HostRun } from '../host-run.ts'
import { readDeploymentEvents, readReviewEvents, readStatusEvents, settleForce } from '../read-change.ts'
import type { RepositoryPass, SyncRun } from './sync-run.ts'

/** How long after its merge the reviews of a pull request are read. */
const REVIEWS_MS = 14 * DAY_MS

/** An item of a list, and what it means. */
export type ListedItem = {
  id: string
  /** The time that the list is ordered by, the newest first. */
  ordered_at: Date
  changed_at: Date
  event: HostEvent
  /** Further events that are read from the host, such as the statuses of a deployment. */
  details?(): Promise<HostEvent[]>
}

/** A list of each repository that is synchronized. */
export type SyncedList = {
  name: string
  /** Whether the first synchronization reads all of it, instead of the last 90 days. */
  is_complete: boolean
  /** Whether the host may refuse it: for example, the feature is not in use. */
  is_optional: boolean
  /** Whether webhooks report the same. A failure is not noted, because the next hour reads it. */
  is_backup?: boolean
  /**
   * Whether items change long after they were made. The host is asked for what has changed; where
   * it cannot be asked, the items of the last seven days are read again daily.
   */
  changes_late?: boolean
  read(pass: RepositoryPass, options: ListOptions): Promise<ListResult<ListedItem>>
}

const runs: SyncedList = {
  name: 'runs',
  is_complete: false,
  is_optional: false,
  changes_late: true,
  read: async ({ run: { client }, repository }, options) => {
    const page = await client.listRuns(repository, options)
    const isOfChanges = page !== 'not_modified' && page.has_changes === true
    return mapItems(page, (run) => ({ ...toRunItem(run), ...(isOfChanges && { ordered_at: run.updated_at }) }))
  },
}

export function toRunItem(run: HostRun): ListedItem {
  return { id: run.id, ordered_at: run.created_at, changed_at: run.updated_at, event: { kind: 'run', data: run } }
}

const deployments: SyncedList = {
  name: 'deployments',
  is_complete: false,
  is_optional: false,
  read: async ({ run, repository }, options) =>
    mapItems(await run.client.listDeployments(repository, options), (deployment) => toDeploymentItem(run, deployment)),
}

/**
 * A deployment with all its statuses. An App hears of the requests of its rule and of the answers
 * of reviewers by webhooks, so that only other hosts are asked for them.
 */
export function toDeploymentItem({ client, host }: SyncRun, deployment: HostDeployment): ListedItem {
  return {
    id: deployment.id,
    ordered_at: deployment.created_at,
    changed_at: deployment.updated_at,
    event: { kind: 'deployment', data: deployment },
    details: () =>
      host.connects === 'app' ? readStatusEvents(client, deployment) : readDeploymentEvents(client, deployment),
  }
}

function alerts(type: HostAlertType): SyncedList {
  return {
    name: getAlertListName(type),
    is_complete: true,
    is_optional: true,
    read: async ({ run: { client }, repository }, options) =>
      mapItems(await client.listAlerts(repository, type, options), (alert) => ({
        id: String(alert.number),
        ordered_at: alert.updated_at,
        changed_at: alert.updated_at,
        event: { kind: 'alert', data: alert },
      })),
  }
}

const pullRequests: SyncedList = {
  name: 'pull_requests',
  is_complete: false,
  is_optional: false,
  read: async ({ run: { client }, repository, now }, options) =>
    mapItems(await client.listPullRequests(repository, options), (pullRequest) => ({
      id: String(pullRequest.number),
      ordered_at: pullRequest.updated_at,
      changed_at: pullRequest.updated_at,
      event: { kind: 'pull_request', data: pullRequest },
      ...(hasLiveReviews(pullRequest, now) && {
        details: () => readReviewEvents(client, repository, pullRequest.number),
      }),
    })),
}

/** Whether new reviews matter: the pull request is open, or was merged lately. */
function hasLiveReviews({ state, merged_at }: HostPullRequest, now: Date): boolean {
  return state === 'open' || (merged_at !== null && merged_at.getTime() >= now.getTime() - REVIEWS_MS)
}

/** Pushes to the tracked branch that no webhook reported. */
const pushes: SyncedList = {
  name: 'pushes',
  is_complete: false,
  is_optional: true,
  is_backup: true,
  read: async ({ run: { client }, repository }, options) =>
    mapItems(await listPushes(client, repository, options), (push) => ({
      id: `${push.before}...${push.after}`,
      ordered_at: push.pushed_at,
      changed_at: push.pushed_at,
      event: { kind: 'push', data: push },
    })),
}

async function listPushes(
  client: HostClient,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostPush>> {
  const page = await client.listPushes(repository, repository.default_branch, options)
  if (page === 'not_modified') return page
  return { ...page, items: await Promise.all(page.items.map((push) => settleForce(client, push))) }
}

function mapItems<Item>(page: ListResult<Item>, toItem: (item: Item) => ListedItem): ListResult<ListedItem> {
  return page === 'not_modified' ? page : ({ ...page, items: page.items.map(toItem) } satisfies HostPage<ListedItem>)
}

/** In the order in which they are read. */
export const SYNCED_LISTS: readonly SyncedList[] = [
  runs,
  deployments,
  ...HOST_ALERT_TYPES.map(alerts),
  pullRequests,
  pushes,
]
