import type { DeploymentReads, HostReader } from '../../code-host.ts'
import type { HostDeployment, HostDeploymentState, HostDeploymentStatus } from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostRunStatus } from '../../host-run.ts'
import { mergePages, NO_ACCESS } from '../../kit/pages.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { createApprovalReads, fetchCheckpoints, fetchHeldEnvironments, fetchPlace, parseStage } from './approvals.ts'
import { type AzureApi, LISTED, parseAccount, parseTime, selectLatest } from './client.ts'
import {
  createEnvironmentReads,
  type DeploymentRecord,
  type Environment,
  fetchRecords,
  formatDeploymentId,
  getRecordAttempt,
  parseDeploymentId,
  parseDeploymentRecord,
  parseEnvironment,
} from './environments.ts'
import { fetchJobs, fetchTimeline, formatJobId, formatRunId, parseStatus } from './jobs.ts'
import { type Build, fetchBuild, fetchBuildPage, fetchBuilds, isBuildFrom, parseRef, parseWebUrl } from './runs.ts'

export function createDeploymentReads(api: AzureApi): DeploymentReads {
  return {
    listDeployments: listDeployments(api),

    async readDeployment(repository, id) {
      const facts = await fetchFacts(api, repository, id)
      return facts && toHostDeployment(facts)
    },

    /** The check on the environment asks by itself. */
    listGateRequests: async () => [],

    async listDeploymentStatuses(deployment) {
      const facts = await fetchFacts(api, deployment.repository, deployment.id)
      return facts === null ? [] : parseStatuses(facts, await fetchJobId(api, facts, deployment))
    },

    ...createEnvironmentReads(api),
    ...createApprovalReads(api),
  }
}

/** Null if the run is not of the repository, or deploys to no environment there. */
async function fetchFacts(api: AzureApi, repository: HostRepository, id: string): Promise<DeploymentFacts | null> {
  const name = parseDeploymentId(id)
  const build = name && (await fetchBuild(api, name))
  const found = build && isBuildFrom(build, repository) ? await fetchPlace(api, name, build) : null
  if (!build || !found) return null
  const { environment, attempt } = found
  const records = (await fetchRecords(api, name.project, build, environment)).filter(
    (record) => getRecordAttempt(record) === attempt,
  )
  const stage = records.length > 0 ? null : await fetchHoldingStage(api, { ...name, attempt }, environment)
  return { repository, build, environment, attempt, records, stage }
}

async function fetchHoldingStage(
  api: AzureApi,
  { project, build, attempt }: { project: string; build: number; attempt: number },
  { id }: Environment,
): Promise<DeploymentFacts['stage']> {
  const checkpoints = await fetchCheckpoints(api, { project, build }, attempt)
  const holding = checkpoints.find(({ checks }) => checks.some(({ environment }) => environment === id))
  return holding ? parseStage(holding) : null
}

/** The host's id of the job that deploys; null if it cannot be told. */
async function fetchJobId(
  api: AzureApi,
  { build, attempt, records }: DeploymentFacts,
  { run }: HostDeployment,
): Promise<string | null> {
  const [record] = records
  if (run === null || record?.jobName === undefined) return null
  const name = { project: build.project.id.toLowerCase(), build: build.id }
  const timeline = await fetchTimeline(api, name)
  const jobs = timeline === null ? [] : await fetchJobs(api, name, timeline, attempt)
  // Identifiers have the form `stage.job.instance`.
  const prefix = `${record.stageName ?? ''}.${record.jobName ?? ''}`
  const found = jobs
    .map(({ job }) => job)
    .filter((one) => one.name === record.jobName || (one.identifier ?? '').startsWith(prefix))
  const [job] = found
  return job !== undefined && found.length === 1
    ? formatJobId({ ...name, attempt: job.attempt || 1, record: job.id })
    : null
}

const PAGE_ITEMS = 50
/** Runs among which those are searched that wait, or that were refused. */
const NEWEST_RUNS = 100
/** The results of runs that were refused. */
const HELD_RESULTS = ['failed', 'canceled']

/**
 * The deployments of all environments of the project, newest first. What waits for the checks of an
 * environment, or was refused by them, has no record. It is read from the newest runs.
 */
function listDeployments(api: AzureApi): HostReader['listDeployments'] {
  return async (repository, { since, next }) => {
    const project = await api.fetchProject(repository)
    const path = encodePath`/${project ?? ''}/_apis/distributedtask/environments`
    const list = project === null ? null : await api.fetchList({ path })
    if (project === null || list === null) return NO_ACCESS
    const environments = api.parseItems(list.values, parseEnvironment)
    const place = { repository, project, environments }
    const waiting = next ? [] : await fetchWithoutRecords(api, repository, project)
    const parts = environments.map(({ id }) => id)
    const read = (id: number, token: string | null) => fetchRecordPage(api, place, id, token)
    const page = await mergePages({ parts, read, timeOf: ({ created_at }) => created_at }, next)
    const items = [...waiting, ...page.items].filter(({ created_at }) => since === undefined || created_at >= since)
    const isOver = since !== undefined && page.items.some(({ created_at }) => created_at < since)
    return { items, next: isOver ? null : page.next, etag: LISTED }
  }
}

type Place = { repository: HostRepository; project: string; environments: Environment[] }

async function fetchRecordPage(
  api: AzureApi,
  { repository, project, environments }: Place,
  id: number,
  token: string | null,
): Promise<{ items: HostDeployment[]; next: string | null }> {
  const path = encodePath`/${project}/_apis/distributedtask/environments/${id}/environmentdeploymentrecords`
  const page = await api.fetchPage({ path, query: { top: PAGE_ITEMS } }, token)
  const records = page === null ? [] : api.parseItems(page.values, parseDeploymentRecord)
  const its = environments.filter((environment) => environment.id === id)
  const items = await fetchDeployments(api, { repository, project, environments: its }, records)
  items.sort((one, other) => other.created_at.getTime() - one.created_at.getTime())
  return { items, next: page?.next ?? null }
}

/** The records of one environment. Those of other repositories of the project are left out. */
async function fetchDeployments(
  api: AzureApi,
  { repository, project, environments }: Place,
  records: DeploymentRecord[],
): Promise<HostDeployment[]> {
  const builds = await fetchBuilds(api, repository, project, [
    ...new Set(records.flatMap(({ owner }) => owner?.id ?? [])),
  ])
  const attempts = Map.groupBy(records, (record) => `${record.owner?.id} ${getRecordAttempt(record)}`)
  return [...attempts.values()].flatMap((its) => {
    const [first] = its as [DeploymentRecord]
    const build = builds.find(({ id }) => id === first.owner?.id)
    const attempt = getRecordAttempt(first)
    return environments.flatMap((environment) =>
      build ? toHostDeployment({ repository, build, environment, attempt, records: its, stage: null }) : [],
    )
  })
}

/** What the newest runs of a repository wait to deploy, or were refused. */
async function fetchWithoutRecords(
  api: AzureApi,
  repository: HostRepository,
  project: string,
): Promise<HostDeployment[]> {
  const page = await fetchBuildPage(api, { repository, project, filter: { $top: NEWEST_RUNS } })
  const held = (page?.builds ?? []).filter(
    ({ status, result }) => status !== 'completed' || HELD_RESULTS.includes(result ?? ''),
  )
  return (await Promise.all(held.map((build) => fetchHeld(api, repository, build)))).flat()
}

async function fetchHeld(api: AzureApi, repository: HostRepository, build: Build): Promise<HostDeployment[]> {
  const project = build.project.id.toLowerCase()
  const checkpoints = await fetchCheckpoints(api, { project, build: build.id })
  const held = checkpoints.filter(({ has_started }) => !has_started)
  const environments = await fetchHeldEnvironments(api, project, held)
  return held.flatMap((checkpoint) => {
    const its = environments.filter(({ id }) => checkpoint.checks.some((check) => check.environment === id))
    const facts = { repository, build, attempt: checkpoint.attempt, records: [], stage: parseStage(checkpoint) }
    return its.map((environment) => toHostDeployment({ ...facts, environment }))
  })
}

/** What is known of a deployment. There are no records before the checks are passed. */
type DeploymentFacts = {
  repository: HostRepository
  build: Build
  environment: Environment
  attempt: number
  records: DeploymentRecord[]
  /** The stage that deploys, as far as it can be told. */
  stage: { waits_since: Date | null; status: HostRunStatus; ended_at: Date | null } | null
}

function toHostDeployment({ repository, build, environment, attempt, ...facts }: DeploymentFacts): HostDeployment {
  const { records, stage } = facts
  const project = build.project.id.toLowerCase()
  const created = earliest(records.map(({ queueTime, startTime }) => parseTime(queueTime) ?? parseTime(startTime)))
  const createdAt = created ?? stage?.waits_since ?? parseTime(build.queueTime) ?? new Date(0)
  const times = records.flatMap(({ startTime, finishTime }) => [parseTime(startTime), parseTime(finishTime)])
  return {
    repository,
    id: formatDeploymentId({ project, build: build.id, environment: environment.id, attempt }),
    environment: environment.name,
    ref: parseRef(build) ?? build.sourceBranch ?? null,
    commit_sha: build.sourceVersion ?? '',
    run: { id: formatRunId({ project, build: build.id }), attempt },
    creator: parseAccount(build.requestedFor),
    description: null,
    created_at: createdAt,
    updated_at: selectLatest([...times, stage?.ended_at ?? null], createdAt),
  }
}

/** The states of a deployment so far, oldest first. */
function parseStatuses(facts: DeploymentFacts, jobId: string | null): HostDeploymentStatus[] {
  const deployment = toHostDeployment(facts)
  const states: [HostDeploymentState, Date | null][] = [
    ['waiting', deployment.created_at],
    ['in_progress', earliest(facts.records.map(({ startTime }) => parseTime(startTime)))],
    parseEnd(facts),
  ]
  return states.flatMap(([state, at]) =>
    at === null
      ? []
      : {
          deployment,
          id: null,
          state,
          environment_url: null,
          log_url: parseWebUrl(facts.build),
          job_id: jobId,
          creator: deployment.creator,
          created_at: at,
        },
  )
}

/**
 * How a deployment ended, and when; no time if it has not. One that has no records ended with its
 * stage, or with its run: a check or a person refused it, or the run was cancelled.
 */
function parseEnd({ records, stage, build }: DeploymentFacts): [HostDeploymentState, Date | null] {
  if (records.length > 0) {
    const isOpen = records.some(({ finishTime }) => parseTime(finishTime) === null)
    const at = isOpen
      ? null
      : selectLatest(
          records.map(({ finishTime }) => parseTime(finishTime)),
          new Date(0),
        )
    return [worstState(records.map(({ result }) => parseStatus('completed', result))), at]
  }
  if (stage?.ended_at) return [worstState([stage.status]), stage.ended_at]
  const isOver = build.status === 'completed'
  return [worstState([parseStatus(build.status, build.result)]), isOver ? parseTime(build.finishTime) : null]
}

/** A stage that ended without a deployment did not deploy, whatever its result. */
function worstState(statuses: HostRunStatus[]): HostDeploymentState {
  if (statuses.some((status) => status === 'failure' || status === 'timed_out')) return 'failure'
  return statuses.every((status) => status === 'success') ? 'success' : 'cancelled'
}

function earliest(times: (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : new Date(Math.min(...known.map(Number)))
}
