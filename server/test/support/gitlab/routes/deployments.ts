import { found, HttpError } from '../../hosts/http-error.ts'
import { created, ok } from '../../hosts/rest-request.ts'
import { answerRule } from '../../hosts/stories/gates.ts'
import type { Deployment, Environment } from '../../hosts/types.ts'
import { jobDeployments } from '../../hosts/world.ts'
import {
  type Gitlab,
  type GitlabRequest,
  type GitlabRoutes,
  ordered,
  page,
  projectOf,
  requireUltimate,
} from '../gitlab.ts'
import { userShape } from '../shapes/accounts.ts'
import { approvedShape, deploymentShape, deploymentStatus } from '../shapes/deployments.ts'

const PROJECT = '/api/v4/projects/{id}'

type Shape = ReturnType<typeof deploymentShape>

/**
 * https://docs.gitlab.com/api/deployments/, "List project deployments": by `id` and `asc` by default.
 * "Approve or reject a blocked deployment": `comment` goes along, and only who may approve does.
 */
export function deploymentRoutes(gitlab: Gitlab): GitlabRoutes {
  const { world } = gitlab
  return {
    [`GET ${PROJECT}/deployments`]: (request) => {
      const { query } = request
      const wanted = jobDeployments(projectOf(gitlab, request)).filter(
        (one) =>
          (query.get('environment') ?? one.environment.name) === one.environment.name &&
          (query.get('status') ?? deploymentStatus(gitlab, one)) === deploymentStatus(gitlab, one),
      )
      const shapes = wanted.map((one) => deploymentShape(gitlab, one))
      const by = { id: (one: Shape) => one.id, updated_at: (one: Shape) => one.updated_at }
      return page(request, ordered(request, shapes, { by, sort: 'asc' }))
    },
    [`GET ${PROJECT}/deployments/{deployment_id}`]: (request) =>
      ok(approvedShape(gitlab, deploymentOf(gitlab, request))),
    [`POST ${PROJECT}/deployments/{deployment_id}/approval`]: (request) => {
      requireUltimate(gitlab)
      const deployment = deploymentOf(gitlab, request)
      const { status, comment = null } = request.body
      if (comment !== null && comment.length > 255) throw new HttpError(400, 'Comment is too long')
      if (deployment.gates.get('ours') !== 'pending') throw new HttpError(400, 'This deployment is not waiting.')
      const isLast = [...deployment.gates].every(([gate, state]) => gate === 'ours' || state === 'approved')
      if (isLast && gitlab.approved.has(deployment)) throw new HttpError(400, 'You have already approved it.')
      // GitLab waits until somebody starts the approved job.
      if (status === 'approved' && isLast) gitlab.approved.set(deployment, { comment })
      else answerRule(world, deployment, { state: status, comment })
      return created({ user: userShape(gitlab, world.program), status, comment, created_at: world.now().toISOString() })
    },
    [`GET ${PROJECT}/environments`]: (request) => {
      const named = projectOf(gitlab, request).environments.get(request.query.get('name') ?? '')
      return page(request, named ? [{ id: named.id, name: named.name, state: 'available' }] : [])
    },
    [`GET ${PROJECT}/protected_environments/{name}`]: (request) => {
      requireUltimate(gitlab)
      const environment = found(projectOf(gitlab, request).environments.get(request.params.name as string))
      return ok(protectionOf(gitlab, environment))
    },
  }
}

function deploymentOf(gitlab: Gitlab, request: GitlabRequest): Deployment {
  return found(gitlab.world.deployment(projectOf(gitlab, request), request.params.deployment_id as string))
}

/** Our rule is an approval rule that names our own user. */
function protectionOf({ world }: Gitlab, { name, reviewers, ours }: Environment) {
  const none = { user_id: null, group_id: null, access_level: null, required_approvals: 1 }
  const own = ours ? [{ ...none, user_id: world.program.id, access_level_description: 'Shiplock' }] : []
  const rules = reviewers.map((one) =>
    one.type === 'person'
      ? { ...none, user_id: one.account.id, access_level_description: one.account.login }
      : { ...none, group_id: one.id, access_level_description: one.name },
  )
  const approval_rules = [...rules, ...own]
  if (approval_rules.length === 0) throw new HttpError(404, '404 Not found')
  const everyone = { ...none, access_level: 40, access_level_description: 'Maintainers' }
  return { name, deploy_access_levels: [everyone], required_approval_count: 0, approval_rules }
}
