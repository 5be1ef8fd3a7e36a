import type { HostRepository } from '../../host-repository.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { type Deployment, parseDeployment } from '../objects/deployment.parser.ts'
import { jobOfDeploymentId } from '../objects/deployment-id.ts'

/** A deployment by its id, or by the job that deploys. */
export async function findDeployment(
  { api }: Session,
  repository: HostRepository,
  id: string,
): Promise<Deployment | null> {
  const path = `${projectPath(repository)}/deployments`
  const job = jobOfDeploymentId(id)
  if (job === null) {
    const found = await api.read(`${path}${restPath`/${id}`}`)
    return found && parseDeployment(found)
  }
  const query = { environment: job.environment, order_by: 'id', sort: 'desc' }
  const deployments = api.parseItems((await api.readList(path, query, 1)) ?? [], parseDeployment)
  return deployments.find(({ deployable }) => String(deployable?.id) === job.id) ?? null
}
