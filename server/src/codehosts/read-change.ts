import type { HostClient, HostReader } from './code-host.ts'
import { HOST_ALERT_TYPES } from './host-alert.ts'
import type { HostPush, ToldPush } from './host-change.ts'
import type { HostDeployment } from './host-deployment.ts'
import type { HostEvent, ObjectChange } from './host-event.ts'
import type { HostRepository } from './host-repository.ts'

/**
 * Reads an object that a webhook named. `known` is its repository, or null if it is new. Returns
 * nothing if the host does not have the object, or has it outside the connected account.
 */
export async function readChange(
  client: HostClient,
  known: HostRepository | null,
  change: ObjectChange,
): Promise<HostEvent[]> {
  if (change.type === 'repository') return readRepository(client, known, change)
  const repository = known ?? (await client.readRepository(change.repository_id))
  return repository === null ? [] : readObject(client, repository, change)
}

type RepositoryChange = Extract<ObjectChange, { type: 'repository' }>

async function readRepository(
  client: HostClient,
  known: HostRepository | null,
  { repository_id, change }: RepositoryChange,
): Promise<HostEvent[]> {
  const read = await client.readRepository(repository_id)
  if (read !== null) return [{ kind: 'repository', data: { repository: read, change: 'changed' } }]
  if (known === null) return []
  const left = change === 'deleted' ? 'deleted' : 'removed'
  return [{ kind: 'repository', data: { repository: known, change: left } }]
}

async function readObject(
  client: HostClient,
  repository: HostRepository,
  change: Exclude<ObjectChange, RepositoryChange>,
): Promise<HostEvent[]> {
  switch (change.type) {
    case 'run': {
      const run = await client.readRun(repository, change.id)
      if (run === null) return []
      const jobs = await client.listJobs(run.repository, run.id, run.attempt)
      return [{ kind: 'run', data: run }, ...jobs.map((data): HostEvent => ({ kind: 'job', data }))]
    }
    case 'deployment': {
      const deployment = await client.readDeployment(repository, change.id)
      return deployment ? deploymentNews(client, deployment) : []
    }
    case 'run_deployments':
      return readRunDeployments(client, repository, change.run_id)
    case 'pull_request': {
      const pullRequest = await client.readPullRequest(repository, change.number)
      if (pullRequest === null) return []
      return [
        { kind: 'pull_request', data: pullRequest },
        ...(await readReviewEvents(client, repository, change.number)),
      ]
    }
    case 'checks':
      return (await client.listChecks(repository, change.commit_sha)).map((data) => ({ kind: 'check', data }))
    case 'alert':
      return [{ kind: 'alert_change', data: { ...change.alert, repository } }]
    case 'alerts':
      return readAlerts(client, repository)
    case 'push': {
      // Times are texts in the payload of a job.
      const pushed_at = new Date(change.push.pushed_at)
      return [{ kind: 'push', data: await settleForce(client, { ...change.push, repository, commits: [], pushed_at }) }]
    }
    case 'gate_request': {
      const requested_at = new Date(change.request.requested_at)
      return [{ kind: 'gate_request', data: { ...change.request, requested_at, repository, deployment: null } }]
    }
  }
}

/** They are among the newest ones. The webhook may name the run by another id than its own. */
async function readRunDeployments(client: HostClient, repository: HostRepository, runId: string): Promise<HostEvent[]> {
  const [named, page] = [await client.readRun(repository, runId), await client.listDeployments(repository, {})]
  const items = page === 'not_modified' ? [] : page.items.filter(({ run }) => run && run.id === named?.id)
  return (await Promise.all(items.map((deployment) => deploymentNews(client, deployment)))).flat()
}

/** Those that changed last. The synchronization reads all. */
async function readAlerts(client: HostClient, repository: HostRepository): Promise<HostEvent[]> {
  const pages = await Promise.all(HOST_ALERT_TYPES.map((type) => client.listAlerts(repository, type, {})))
  const alerts = pages.flatMap((page) => (page === 'not_modified' ? [] : page.items))
  return alerts.map((data) => ({ kind: 'alert', data }))
}

async function deploymentNews(client: HostClient, deployment: HostDeployment): Promise<HostEvent[]> {
  return [{ kind: 'deployment', data: deployment }, ...(await readDeploymentEvents(client, deployment))]
}

/**
 * What belongs to a deployment: its statuses, the requests of our rule, and the answers of
 * reviewers.
 */
export async function readDeploymentEvents(client: HostClient, deployment: HostDeployment): Promise<HostEvent[]> {
  const [statuses, requests, reviews] = await Promise.all([
    readStatusEvents(client, deployment),
    client.listGateRequests(deployment),
    deployment.run ? client.listDeploymentReviews(deployment.repository, deployment.run.id) : [],
  ])
  return [
    ...statuses,
    ...requests.map((data): HostEvent => ({ kind: 'gate_request', data })),
    ...reviews.map((data): HostEvent => ({ kind: 'deployment_review', data })),
  ]
}

export async function readStatusEvents(client: HostClient, deployment: HostDeployment): Promise<HostEvent[]> {
  return (await client.listDeploymentStatuses(deployment)).map((data) => ({ kind: 'deployment_status', data }))
}

export async function readReviewEvents(
  client: HostClient,
  repository: HostRepository,
  number: number,
): Promise<HostEvent[]> {
  return (await client.listReviews(repository, number)).map((data) => ({ kind: 'review', data }))
}

/** Finds out whether a push replaced commits, if its host does not say it. */
export async function settleForce(client: Pick<HostReader, 'compareCommits'>, push: ToldPush): Promise<HostPush> {
  return { ...push, forced: push.forced ?? (await replacesCommits(client, push)) }
}

/** Commits of the former head are then not part of the new one. */
async function replacesCommits(
  client: Pick<HostReader, 'compareCommits'>,
  { repository, before, after }: ToldPush,
): Promise<boolean> {
  if (before === null || after === null) return false
  const replaced = await client.compareCommits(repository, after, before)
  return replaced !== null && replaced.commits.length > 0
}
