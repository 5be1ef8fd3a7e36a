import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import type { Change, ChangeType } from '../organizations/change.ts'
import type { Services } from '../services.ts'

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * What state-changing requests change, by their path below /v1 or the organization. The id in the
 * path is that of an object of the first type. The first matching line applies.
 */
const CHANGES_OF_ROUTES: [path: RegExp, ...types: ChangeType[]][] = [
  // These only read.
  [/\/(?:validate|dry-run|compare|test)$/],
  [/^\/(?:ci\/runs|api\/ingest)\b/, 'run'],
  [/^\/ci\/gates\b/, 'deployment'],
  [/^\/deployments\b/, 'deployment'],
  [/^\/security\/uploads\b/, 'security_upload'],
  [/^\/security\/alerts\b/, 'alert', 'finding', 'issue', 'triage'],
  [/^\/security\/findings\b/, 'finding', 'issue', 'triage'],
  [/^\/security\/issues\b/, 'issue', 'finding', 'triage'],
  [/^\/security\/triage\b/, 'triage', 'issue', 'finding', 'alert'],
  [/^\/gates\b/, 'gate'],
  [/^\/policies\b/, 'policy'],
  [/^\/api-keys\b/, 'api_key'],
  [/^\/oidc-trusts\b/, 'oidc_trust'],
  [/^\/code-hosts\b/, 'code_host'],
  [/^\/members\b/, 'member'],
  [/^\/invitations\b/, 'invitation'],
  [/^\/roles\b/, 'role'],
  [/^\/single-sign-on\b/, 'single_sign_on'],
  [/^\/audit-log\b/],
  // Saved views belong to one person.
  [/^\/saved-views\b/],
  [/^$/, 'organization'],
]

/** Notes what each successful state-changing request has changed, for live updates. */
export function registerRequestChanges(app: FastifyInstance, { changes }: Services): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { method, actor } = request
    if (actor && !SAFE_METHODS.includes(method) && reply.statusCode < 300) {
      changes.note(actor.org_id, changesOfRequest(request, typeof payload === 'string' ? payload : ''))
    }
    done()
  })
}

function changesOfRequest({ routeOptions, params }: FastifyRequest, payload: string): Change[] {
  const [first, ...others] = typesOfRoute(routeOptions.url ?? '') ?? []
  if (first === undefined) return []
  return [{ type: first, id: idOf(params, payload) }, ...others.map((type) => ({ type, id: null }))]
}

/** The types of objects that a route changes. Undefined for an unknown route. */
export function typesOfRoute(url: string): ChangeType[] | undefined {
  const path = url.replace(ORGANIZATION_PATH, '').replace(/^\/v1(?=\/)/, '')
  return CHANGES_OF_ROUTES.find(([pattern]) => pattern.test(path))?.slice(1) as ChangeType[] | undefined
}

/** The start of the response of an operation that creates an object. */
const CREATED_ID = /^\{"data":\{(?:"upload":\{)?"id":"([^"\\]{1,128})"/

function idOf(params: unknown, payload: string): string | null {
  const { org: _, ...ids } = params as Record<string, string>
  return Object.values(ids)[0] ?? CREATED_ID.exec(payload)?.[1] ?? null
}
