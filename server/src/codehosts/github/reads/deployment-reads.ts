import { type DeploymentReads, pageSince } from '../../code-host.ts'
import type { HostDeploymentStatus } from '../../host-deployment.ts'
import type { GithubApi } from '../client/github-api.ts'
import { parseDeployment, parseDeploymentStatus } from '../objects/deployment.parser.ts'
import { parseApproval, parseEnvironment, parsePendingDeployment } from '../objects/environment.parser.ts'

const ENVIRONMENT = 'GET /repos/{owner}/{repo}/environments/{environment_name}'
const RUN = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}'

export function deploymentReads(api: GithubApi, now: () => Date): DeploymentReads {
  return {
    /** GitHub lists the newest first, and cannot filter by the time. */
    async listDeployments(repository, options) {
      const route = 'GET /repos/{owner}/{repo}/deployments'
      const page = await api.readPage(route, { repository }, options, (item) => parseDeployment(item, repository))
      return page === 'not_modified' ? page : pageSince(page, options.since)
    },

    async readDeployment(repository, id) {
      const route = 'GET /repos/{owner}/{repo}/deployments/{deployment_id}'
      const deployment = await api.read(route, { repository, deployment_id: id })
      return deployment && parseDeployment(deployment, repository)
    },

    /** GitHub asks with the event `deployment_protection_rule`. */
    listGateRequests: async () => [],

    async listDeploymentStatuses(deployment) {
      const route = 'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses'
      const { repository, id } = deployment
      const parameters = { repository, deployment_id: id }
      const statuses = await api.readAll(route, parameters, (status) => parseDeploymentStatus(status, deployment))
      return statuses.sort(byAge)
    },

    /** The rules of Apps are a list of their own, which older servers do not have. */
    async readEnvironment(repository, name) {
      const parameters = { repository, environment_name: name }
      const environment = await api.read(ENVIRONMENT, parameters)
      if (environment === null) return null
      const rules = await api.read(`${ENVIRONMENT}/deployment_protection_rules`, parameters)
      const { app_id: ownAppId } = await api.session.key()
      return parseEnvironment(environment, rules, ownAppId)
    },

    async listPendingDeployments(repository, runId) {
      const pending = await api.read(`${RUN}/pending_deployments`, { repository, run_id: runId })
      return Array.isArray(pending) ? api.parseItems(pending, parsePendingDeployment) : []
    },

    async listDeploymentReviews(repository, runId) {
      const approvals = await api.read(`${RUN}/approvals`, { repository, run_id: runId })
      const of = { repository, run: { id: runId, attempt: null }, at: now() }
      return Array.isArray(approvals) ? api.parseItems(approvals, (approval) => parseApproval(approval, of)) : []
    },
  }
}

/** Ids grow with time, and decide within a second. */
function byAge(one: HostDeploymentStatus, other: HostDeploymentStatus): number {
  return one.created_at.getTime() - other.created_at.getTime() || Number(one.id) - Number(other.id)
}
