import { found, HttpError } from '../../hosts/http-error.ts'
import { type Answer, created, noContent, ok, type Routes } from '../../hosts/rest-request.ts'
import type { Hook } from '../../hosts/webhooks.ts'
import type { Json } from '../../json.ts'
import { type Bitbucket, type Caller, page, type Request, repositoryOf, workspaceOf } from '../api.ts'
import { SPAN_EVENT } from '../events.ts'
import { braced, timestamp } from '../shapes.ts'

type Place = { hooks: string; scope: (request: Request) => string; type: 'workspace' | 'repository' }

/**
 * Webhooks of workspaces and of repositories, which only administrators see: others are answered 403 or
 * 404 (`#api-workspaces-workspace-hooks-get`). A workspace refuses the event of pipelines.
 */
export function hookRoutes(bitbucket: Bitbucket): Routes<Caller> {
  const places: Place[] = [
    {
      hooks: '/2.0/workspaces/{workspace}/hooks',
      scope: (request) => `workspace ${workspaceOf(bitbucket, request).uuid}`,
      type: 'workspace',
    },
    {
      hooks: '/2.0/repositories/{workspace}/{repo_slug}/hooks',
      scope: (request) => `repository ${repositoryOf(bitbucket, request).uuid}`,
      type: 'repository',
    },
  ]
  return Object.assign({}, ...places.map((place) => routesOf(bitbucket, place)))
}

function routesOf(bitbucket: Bitbucket, { hooks, scope, type }: Place): Routes<Caller> {
  const own = (request: Request) => {
    const asked = scope(request)
    return bitbucket.hooks.hooks.filter((hook) => hook.scope === asked)
  }
  const one = (request: Request) => {
    const wanted = (request.params.uid as string).replace(/[{}]/g, '')
    return found(own(request).find(({ uuid }) => uuid === wanted))
  }
  return {
    [`GET ${hooks}`]: (request) =>
      page(
        bitbucket,
        request,
        own(request).map((hook) => hookJson(hook, type)),
      ),
    [`POST ${hooks}`]: (request) => {
      const { url, secret, events, ...settings } = checked(request.body, type)
      return created(hookJson(bitbucket.hooks.addHook({ url, secret, events, scope: scope(request), settings }), type))
    },
    [`PUT ${hooks}/{uid}`]: (request): Answer => {
      const { url, secret, events, active = true } = checked(request.body, type)
      const hook = one(request)
      Object.assign(hook, { url, active, events: new Set(events), secret: secret ?? hook.secret })
      return ok(hookJson(hook, type))
    },
    [`DELETE ${hooks}/{uid}`]: (request) => {
      bitbucket.hooks.removeHook(one(request))
      return noContent()
    },
  }
}

function checked(body: Json, type: Place['type']): Json {
  if (type === 'workspace' && body.events.includes(SPAN_EVENT))
    throw new HttpError(400, `${SPAN_EVENT} is no event of a workspace`)
  return body
}

function hookJson(hook: Hook, type: Place['type']): Json {
  return {
    type: 'webhook_subscription',
    uuid: braced(hook.uuid),
    url: hook.url,
    description: hook.settings.description ?? '',
    subject_type: type,
    active: hook.active,
    secret_set: hook.secret !== '',
    skip_cert_verification: false,
    events: [...hook.events],
    created_at: timestamp(hook.created_at),
  }
}
