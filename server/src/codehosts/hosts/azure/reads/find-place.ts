import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import type { Build } from '../runs.ts'
import { attemptOfRecord } from '../deployments.ts'
import type { DeploymentName } from '../objects/deployment-id.ts'
import { type Environment, parseEnvironment } from '../environments.ts'
import { ofType } from '../jobs.ts'
import { readTimeline } from './build-attempts.ts'
import { type Checkpoint, readCheckpoints } from '../approvals.ts'
import { findEnvironment } from './environment-reads.ts'
import { readRecords } from './read-records.ts'

/** The environments whose records are searched for those of a stage. */
const SEARCHED_MAX = 20

type Place = { environment: Environment; attempt: number }

/** Where a deployment goes to, and in which attempt. Null if there is no such environment. */
export async function findPlace(api: AzureApi, name: DeploymentName, build: Build): Promise<Place | null> {
  const { project, environment: named, attempt } = name
  if (typeof named === 'object' && 'stage' in named) return findByStage(api, name, build, named.stage)
  const environment = await findEnvironment(api, project, named)
  return environment && { environment, attempt: attempt ?? 1 }
}

/**
 * The environment that a stage deploys to. It is known from the checks that hold the stage, else
 * from the records of its deployments. Of several environments, the first one is meant.
 */
async function findByStage(
  api: AzureApi,
  { project, attempt: asked }: DeploymentName,
  build: Build,
  stage: string,
): Promise<Place | null> {
  const name = { project, build: build.id }
  const held = (await readCheckpoints(api, name, asked ?? undefined)).find((checkpoint) => isOfStage(checkpoint, stage))
  const [check] = held?.checks ?? []
  if (held && check) {
    const environment = await findEnvironment(api, project, check.environment)
    return environment && { environment, attempt: held.attempt }
  }
  return (await isDeploying(api, name)) ? findByRecords(api, project, build, stage) : null
}

function isOfStage({ stage }: Checkpoint, name: string): boolean {
  return stage.identifier === name || stage.name === name
}

/** Only a run with stages can deploy. */
async function isDeploying(api: AzureApi, name: { project: string; build: number }): Promise<boolean> {
  const timeline = await readTimeline(api, name)
  return timeline !== null && ofType(timeline, 'Stage').length > 0
}

async function findByRecords(api: AzureApi, project: string, build: Build, stage: string): Promise<Place | null> {
  const path = restPath`/${project}/_apis/distributedtask/environments`
  const environments = await api.readAll({ path }, parseEnvironment)
  for (const environment of environments.slice(0, SEARCHED_MAX)) {
    const records = await readRecords(api, project, build, environment)
    const attempts = records.filter(({ stageName }) => stageName === stage).map(attemptOfRecord)
    if (attempts.length > 0) return { environment, attempt: Math.max(...attempts) }
  }
  return null
}
