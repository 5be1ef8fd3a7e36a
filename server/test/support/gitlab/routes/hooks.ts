import { found, HttpError } from '../../hosts/http-error.ts'
import { created, noContent, ok } from '../../hosts/rest-request.ts'
import type { Hook } from '../../hosts/webhooks.ts'
import {
  type Gitlab,
  type GitlabRequest,
  type GitlabRoutes,
  groupOf,
  iso,
  MAINTAINER,
  OWNER,
  page,
  projectOf,
  requireRole,
  requireUltimate,
} from '../gitlab.ts'

type Scope = (request: GitlabRequest) => string

/**
 * Group and project webhooks. Their secrets are written only. Those of a group are of Premium and
 * Ultimate, and need the role Owner (https://docs.gitlab.com/api/group_webhooks/); those of a
 * project need Maintainer (https://docs.gitlab.com/api/project_webhooks/).
 */
export function hookRoutes(gitlab: Gitlab): GitlabRoutes {
  const ofGroup: Scope = (request) => {
    requireUltimate(gitlab)
    requireRole(gitlab, OWNER)
    return `group ${groupOf(request).id}`
  }
  const ofProject: Scope = (request) => {
    requireRole(gitlab, MAINTAINER)
    return `project ${projectOf(gitlab, request).id}`
  }
  return { ...routesOf(gitlab, '/api/v4/groups', ofGroup), ...routesOf(gitlab, '/api/v4/projects', ofProject) }
}

function routesOf(gitlab: Gitlab, prefix: string, scopeOf: Scope): GitlabRoutes {
  const { hooks } = gitlab.webhooks
  const one = (request: GitlabRequest): Hook => {
    const scope = scopeOf(request)
    return found(hooks.find(({ id, scope: own }) => String(id) === request.params.hook_id && own === scope))
  }
  return {
    [`GET ${prefix}/{id}/hooks`]: (request) => {
      const scope = scopeOf(request)
      const own = hooks.filter((hook) => hook.scope === scope)
      return page(
        request,
        own.map((hook) => hookShape(gitlab, hook)),
      )
    },
    [`POST ${prefix}/{id}/hooks`]: (request) => {
      const hook = gitlab.webhooks.addHook({ url: request.body.url, secret: '', scope: scopeOf(request), events: [] })
      return created(hookShape(gitlab, change(gitlab, hook, request.body)))
    },
    [`PUT ${prefix}/{id}/hooks/{hook_id}`]: (request) =>
      ok(hookShape(gitlab, change(gitlab, one(request), request.body))),
    [`POST ${prefix}/{id}/hooks/{hook_id}/test/{trigger}`]: (request) => testHook(gitlab, one(request), request),
    [`DELETE ${prefix}/{id}/hooks/{hook_id}`]: (request) => {
      gitlab.webhooks.removeHook(one(request))
      return noContent()
    },
  }
}

const TRIGGERS = [
  ...['push', 'tag_push', 'issues', 'confidential_issues', 'note', 'merge_requests', 'job', 'pipeline', 'wiki_page'],
  ...['releases', 'milestone', 'emoji', 'resource_access_token'],
].map((name) => `${name}_events`)

/**
 * https://docs.gitlab.com/user/project/integrations/webhooks/, "Re-enable disabled webhooks": "To
 * re-enable a disabled webhook, send a test request. The webhook is re-enabled if the test request
 * returns a response code in the `2xx` range." It names no other way. The triggers are those of
 * https://docs.gitlab.com/api/group_webhooks/, "Trigger a test group hook". A test request that
 * fails is answered 422, which no page says.
 */
async function testHook(gitlab: Gitlab, hook: Hook, { params }: GitlabRequest) {
  const trigger = params.trigger as string
  if (!TRIGGERS.includes(trigger)) throw new HttpError(400, 'trigger does not have a valid value')
  const payload = { object_kind: 'access_token', event_name: 'expiring_access_token', object_attributes: { id: 1 } }
  const status = await gitlab.webhooks.sendTo(hook, trigger, payload)
  if (status < 200 || status > 299) throw new HttpError(422, `Hook execution failed: ${status}`)
  hook.active = true
  return created({ message: '201 Created' })
}

function change({ signs }: Gitlab, hook: Hook, body: Record<string, unknown>): Hook {
  for (const [name, value] of Object.entries(body)) {
    if (name === 'url') hook.url = String(value)
    else if (name === 'token') hook.secret = String(value)
    else if (name === 'signing_token') Object.assign(hook.settings, signs ? { signing_token: value } : {})
    else if (!name.endsWith('_events')) hook.settings[name] = value
    else if (value === true) hook.events.add(name)
    else hook.events.delete(name)
  }
  return hook
}

function hookShape({ signs }: Gitlab, { id, url, events, settings, secret, created_at, active }: Hook) {
  const { signing_token, ...shown } = settings
  return {
    id,
    url,
    created_at: iso(created_at),
    push_events: false,
    enable_ssl_verification: true,
    alert_status: active ? 'executable' : 'temporarily_disabled',
    disabled_until: null,
    ...shown,
    ...Object.fromEntries([...events].map((event) => [event, true])),
    ...(signs && { token_present: secret !== '', signing_token_present: signing_token !== undefined }),
  }
}
