import type { HostReader } from '../../code-host.ts'
import type { HostDeployment, HostGateRequest } from '../../host-deployment.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { type Deployment, deploymentOf } from '../objects/deployment.parser.ts'
import { findDeployment } from './find-deployment.ts'

/**
 * A deployment that waits for approvals, and one whose job a person has to start. The address is
 * where the answer is sent.
 */
export function listGateRequests(session: Session): HostReader['listGateRequests'] {
  return async ({ repository, id }) => {
    const found = await findDeployment(session, repository, id)
    const deployment = found && deploymentOf(found, repository)
    const question = found && questionOf(found, deployment as HostDeployment)
    if (!deployment || !question) return []
    return [{ ...question, callback_url: `${session.apiUrl}${question.callback_url}` }]
  }
}

function questionOf(found: Deployment, deployment: HostDeployment): HostGateRequest | null {
  const project = projectPath(deployment.repository)
  const { environment, run, ref, commit_sha } = deployment
  const shared = {
    ...{ repository: deployment.repository, environment, deployment, run, ref, commit_sha },
    callback_secret: null,
    requested_at: deployment.created_at,
  }
  if (found.status === 'blocked') {
    const path = `${project}${restPath`/deployments/${found.id}/approval`}`
    return { ...shared, callback_url: path, is_rule: true }
  }
  const job = found.deployable
  if (found.status !== 'created' || job?.status !== 'manual') return null
  return { ...shared, callback_url: `${project}${restPath`/jobs/${job.id}/play`}`, is_rule: false }
}
