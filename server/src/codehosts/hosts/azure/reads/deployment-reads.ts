import type { HostReader } from '../../../code-host.ts'
import type { HostDeployment } from '../../../host-deployment.ts'
import type { HostRepository } from '../../../host-repository.ts'
import type { AzureApi } from '../client.ts'
import { isOf } from '../runs.ts'
import {
  attemptOfRecord,
  type DeploymentFacts,
  type DeploymentRecord,
  deploymentOf,
  statusesOf,
} from '../deployments.ts'
import { parseDeploymentId } from '../objects/deployment-id.ts'
import type { Environment } from '../environments.ts'
import { jobIdOf } from '../objects/run-id.ts'
import { jobsAt, readTimeline } from './build-attempts.ts'
import { readCheckpoints, stageOf } from '../approvals.ts'
import { findPlace } from './find-place.ts'
import { listDeployments } from './list-deployments.ts'
import { readRecords } from './read-records.ts'
import { readBuild } from './run-reads.ts'

type DeploymentReads = Pick<
  HostReader,
  'listDeployments' | 'readDeployment' | 'listGateRequests' | 'listDeploymentStatuses'
>

export function deploymentReads(api: AzureApi): DeploymentReads {
  return {
    listDeployments: listDeployments(api),

    async readDeployment(repository, id) {
      const facts = await readFacts(api, repository, id)
      return facts && deploymentOf(facts)
    },

    /** The check on the environment asks by itself. */
    listGateRequests: async () => [],

    async listDeploymentStatuses(deployment) {
      const facts = await readFacts(api, deployment.repository, deployment.id)
      return facts === null ? [] : statusesOf(facts, await findJob(api, facts, deployment))
    },
  }
}

/** Null if the run is not of the repository, or deploys to no environment there. */
async function readFacts(api: AzureApi, repository: HostRepository, id: string): Promise<DeploymentFacts | null> {
  const name = parseDeploymentId(id)
  const build = name && (await readBuild(api, name))
  const found = build && isOf(build, repository) ? await findPlace(api, name, build) : null
  if (!build || !found) return null
  const { environment, attempt } = found
  const records = (await readRecords(api, name.project, build, environment)).filter(
    (record) => attemptOfRecord(record) === attempt,
  )
  const stage = records.length > 0 ? null : await readStage(api, { ...name, attempt }, environment)
  return { repository, build, environment, attempt, records, stage }
}

async function readStage(
  api: AzureApi,
  { project, build, attempt }: { project: string; build: number; attempt: number },
  { id }: Environment,
): Promise<DeploymentFacts['stage']> {
  const checkpoints = await readCheckpoints(api, { project, build }, attempt)
  const holding = checkpoints.find(({ checks }) => checks.some(({ environment }) => environment === id))
  return holding ? stageOf(holding) : null
}

/** The host's id of the job that deploys; null if it cannot be told. */
async function findJob(
  api: AzureApi,
  { build, attempt, records }: DeploymentFacts,
  { run }: HostDeployment,
): Promise<string | null> {
  const [record] = records
  if (run === null || record?.jobName === undefined) return null
  const name = { project: build.project.id.toLowerCase(), build: build.id }
  const timeline = await readTimeline(api, name)
  const jobs = timeline === null ? [] : await jobsAt(api, name, timeline, attempt)
  const found = jobs.filter(({ job }) => isJob(job, record)).map(({ job }) => job)
  const [job] = found
  return job !== undefined && found.length === 1
    ? jobIdOf({ ...name, attempt: job.attempt || 1, record: job.id })
    : null
}

/** Identifiers have the form `stage.job.instance`. */
function isJob(
  { name, identifier }: { name?: string | null; identifier?: string | null },
  { stageName, jobName }: DeploymentRecord,
): boolean {
  return name === jobName || (identifier ?? '').startsWith(`${stageName ?? ''}.${jobName ?? ''}`)
}
