import type { HostReader } from '../../../code-host.ts'
import type { HostDeployment } from '../../../host-deployment.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { AZURE_REPOS, type Build, isOf, parseBuild } from '../runs.ts'
import {
  attemptOfRecord,
  type DeploymentRecord,
  deploymentOf,
  parseDeploymentRecord,
} from '../deployments.ts'
import { type Environment, parseEnvironment } from '../environments.ts'
import { readCheckpoints, stageOf } from '../approvals.ts'
import { environmentsOf } from './environment-reads.ts'
import { mergePages } from '../../../kit/merge-pages.ts'
import { LISTED, readBuilds } from './run-reads.ts'

const PAGE_RECORDS = 50
/** Runs among which those are searched that wait, or that were refused. */
const NEWEST_RUNS = 100
/** The results of runs that were refused. */
const HELD_RESULTS = ['failed', 'canceled']

/**
 * The deployments of all environments of the project, newest first. What waits for the checks of an
 * environment, or was refused by them, has no record. It is read from the newest runs.
 */
export function listDeployments(api: AzureApi): HostReader['listDeployments'] {
  return async (repository, { since, next }) => {
    const project = await api.projectOf(repository)
    const path = restPath`/${project ?? ''}/_apis/distributedtask/environments`
    const list = project === null ? null : await api.readList({ path })
    if (project === null || list === null) return { items: [], next: null, etag: null }
    const environments = api.parseItems(list.values, parseEnvironment)
    const place = { repository, project, environments }
    const waiting = next ? [] : await listWithoutRecords(api, repository, project)
    const parts = environments.map(({ id }) => id)
    const read = (id: number, token: string | null) => readPage(api, place, id, token)
    const page = await mergePages({ parts, read, timeOf: ({ created_at }) => created_at }, next)
    const items = [...waiting, ...page.items].filter(({ created_at }) => since === undefined || created_at >= since)
    const isOver = since !== undefined && page.items.some(({ created_at }) => created_at < since)
    return { items, next: isOver ? null : page.next, etag: LISTED }
  }
}

function byAge(one: HostDeployment, other: HostDeployment): number {
  return other.created_at.getTime() - one.created_at.getTime()
}

type Place = { repository: HostRepository; project: string; environments: Environment[] }

async function readPage(
  api: AzureApi,
  { repository, project, environments }: Place,
  id: number,
  token: string | null,
): Promise<{ items: HostDeployment[]; next: string | null }> {
  const path = restPath`/${project}/_apis/distributedtask/environments/${id}/environmentdeploymentrecords`
  const page = await api.readPage({ path, query: { top: PAGE_RECORDS } }, token)
  const records = page === null ? [] : api.parseItems(page.values, parseDeploymentRecord)
  const its = environments.filter((environment) => environment.id === id)
  const items = await deploymentsOf(api, { repository, project, environments: its }, records)
  return { items: items.sort(byAge), next: page?.next ?? null }
}

/** The records of one environment. Those of other repositories of the project are left out. */
async function deploymentsOf(
  api: AzureApi,
  { repository, project, environments }: Place,
  records: DeploymentRecord[],
): Promise<HostDeployment[]> {
  const builds = await readBuilds(api, repository, project, [
    ...new Set(records.flatMap(({ owner }) => owner?.id ?? [])),
  ])
  const attempts = Map.groupBy(records, (record) => `${record.owner?.id} ${attemptOfRecord(record)}`)
  return [...attempts.values()].flatMap((its) => {
    const [first] = its as [DeploymentRecord]
    const build = builds.find(({ id }) => id === first.owner?.id)
    const attempt = attemptOfRecord(first)
    return environments.flatMap((environment) =>
      build ? deploymentOf({ repository, build, environment, attempt, records: its, stage: null }) : [],
    )
  })
}

/** What the newest runs of a repository wait to deploy, or were refused. */
async function listWithoutRecords(
  api: AzureApi,
  repository: HostRepository,
  project: string,
): Promise<HostDeployment[]> {
  const query = {
    repositoryId: repository.id,
    repositoryType: AZURE_REPOS,
    queryOrder: 'queueTimeDescending',
    $top: NEWEST_RUNS,
  }
  const page = await api.readPage({ path: restPath`/${project}/_apis/build/builds`, query }, null)
  const builds = api.parseItems(page?.values ?? [], parseBuild).filter((build) => isOf(build, repository))
  const held = builds.filter(({ status, result }) => status !== 'completed' || HELD_RESULTS.includes(result ?? ''))
  return (await Promise.all(held.map((build) => withoutRecords(api, repository, build)))).flat()
}

async function withoutRecords(api: AzureApi, repository: HostRepository, build: Build): Promise<HostDeployment[]> {
  const project = build.project.id.toLowerCase()
  const checkpoints = await readCheckpoints(api, { project, build: build.id })
  const held = checkpoints.filter(({ has_started }) => !has_started)
  const environments = await environmentsOf(api, project, held)
  return held.flatMap((checkpoint) => {
    const its = environments.filter(({ id }) => checkpoint.checks.some((check) => check.environment === id))
    const facts = { repository, build, attempt: checkpoint.attempt, records: [], stage: stageOf(checkpoint) }
    return its.map((environment) => deploymentOf({ ...facts, environment }))
  })
}
