import { found } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { type Gitlab, type GitlabRoutes, groupOf, page, projectOf } from '../gitlab.ts'
import { groupShape, userShape } from '../shapes/accounts.ts'
import { projectShape } from '../shapes/projects.ts'

export function groupRoutes(gitlab: Gitlab): GitlabRoutes {
  const { world } = gitlab
  return {
    'GET /api/v4/version': () => ok({ version: '19.0.1-ee', revision: '0123abc' }),
    'GET /api/v4/user': () => ok(userShape(gitlab, world.program)),
    'GET /api/v4/users': (request) => {
      const account = world.findAccount(request.query.get('username') ?? '')
      return page(request, account ? [userShape(gitlab, account)] : [])
    },
    'GET /api/v4/users/{id}': ({ params }) => ok(userShape(gitlab, found(world.findAccount(Number(params.id))))),
    'GET /api/v4/groups/{id}': (request) => {
      const all = [...gitlab.subgroups.values()].filter(({ owner }) => owner === request.caller)
      const sub = all.find(({ id }) => String(id) === request.params.id)
      if (sub === undefined) return ok(groupShape(gitlab, groupOf(request)))
      const { id, parent_id, owner, path } = sub
      const full_path = `${owner.login}/${path}`
      return ok({ ...groupShape(gitlab, owner), id, parent_id, full_path, full_name: full_path, name: path, path })
    },
    'GET /api/v4/groups/{id}/members/all/{user_id}': (request) => {
      groupOf(request)
      const user = found(request.params.user_id === String(world.program.id) ? world.program : null)
      return ok({ id: user.id, username: user.login, access_level: found(gitlab.accessLevel || null) })
    },
    'GET /api/v4/groups/{id}/projects': (request) => {
      const repositories = world.repositoriesOf(groupOf(request)).toSorted((one, other) => other.id - one.id)
      return page(
        request,
        repositories.map((repository) => projectShape(gitlab, repository)),
      )
    },
    'GET /api/v4/namespaces/{id}': () => ({ status: 404, body: { message: '404 Namespace Not Found' } }),
    'GET /api/v4/projects/{id}': (request) => ok(projectShape(gitlab, projectOf(gitlab, request))),
  }
}
