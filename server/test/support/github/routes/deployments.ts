import { found } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import type { AnyDeployment, Environment } from '../../hosts/types.ts'
import type { OperationName } from '../described.ts'
import { customRules, deploymentObject, deploymentStatus, environmentObject } from '../objects/deployment.ts'
import { listOf, pageOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'

/** Deployments, their statuses, and environments with their rules. */
export const deploymentRoutes = {
  'GET /repos/{owner}/{repo}/deployments': listDeployments,
  'GET /repos/{owner}/{repo}/deployments/{deployment_id}': (request) =>
    ok(deploymentObject(request.world, deploymentOf(request))),
  'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses': (request) => {
    const deployment = deploymentOf(request)
    const newestFirst = [...deployment.statuses].reverse()
    return listOf(request, newestFirst, (status) => deploymentStatus(request.world, deployment, status))
  },
  'GET /repos/{owner}/{repo}/environments': (request) => {
    const all = [...request.repository.environments.values()]
    const { items, headers } = pageOf(request, all, (one) => environmentObject(request.world, request.repository, one))
    return ok({ total_count: all.length, environments: items }, headers)
  },
  'GET /repos/{owner}/{repo}/environments/{environment_name}': (request) =>
    ok(environmentObject(request.world, request.repository, environmentOf(request))),
  'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules': (request) => {
    const rules = customRules(request.world, environmentOf(request))
    return ok({ total_count: rules.length, custom_deployment_protection_rules: rules })
  },
} satisfies Partial<Record<OperationName, Handler>>

function deploymentOf(request: GitHubRequest): AnyDeployment {
  return found(request.repository.deployments.find(({ id }) => id === request.number('deployment_id')))
}

/** GitHub does not distinguish environments by case. */
function environmentOf(request: GitHubRequest): Environment {
  const wanted = request.text('environment_name').toLowerCase()
  return found([...request.repository.environments.values()].find(({ name }) => name.toLowerCase() === wanted))
}

function listDeployments(request: GitHubRequest) {
  const { repository, query, world } = request
  const deployments = repository.deployments.filter(({ sha, ref, environment }) =>
    Object.entries({ sha, ref, environment: environment.name }).every(
      ([name, value]) => (query.get(name) ?? value) === value,
    ),
  )
  return listOf(request, deployments, (deployment) => deploymentObject(world, deployment))
}
