import { found } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { type Gitlab, type GitlabRoutes, groupOf, ordered, page, projectOf } from '../gitlab.ts'
import { groupShape, userShape } from '../shapes/accounts.ts'
import { projectShape } from '../shapes/projects.ts'

type Shape = ReturnType<typeof projectShape>

/**
 * https://docs.gitlab.com/api/groups/, "List projects": without `include_subgroups`, those of
 * subgroups are left out; by `created_at` and `desc` by default.
 */
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
      const projects = world
        .repositoriesOf(groupOf(request))
        .filter(({ path }) => path === '' || request.query.get('include_subgroups') === 'true')
        .map((repository) => projectShape(gitlab, repository))
      const by = { created_at: (one: Shape) => one.created_at, id: (one: Shape) => one.id }
      return page(request, ordered(request, projects, { by, sort: 'desc' }))
    },
    'GET /api/v4/namespaces/{id}': () => ({ status: 404, body: { message: '404 Namespace Not Found' } }),
    'GET /api/v4/projects/{id}': (request) => ok(projectShape(gitlab, projectOf(gitlab, request))),
  }
}
