import type { FastifyRequest } from 'fastify'
import type { Organization } from '../organizations/organization.store.ts'
import type { Plan } from '../organizations/plan.ts'
import type { ListContext } from '../platform/http/lists.ts'
import type { Services } from '../services.ts'
import type { TokenJob } from './oidc-trusts/token-job.ts'
import type { Scope } from './scopes.ts'

/** The authenticated caller: an organization and the credential that it used. */
export type Actor = {
  org_id: string
  organization: Organization
  plan: Plan
  credential: Credential
}

/** What authenticates a request. `id` is the id of the API key or of the OIDC trust. */
export type Credential = { id: string; name: string; scopes: readonly Scope[] } & (
  | { type: 'api_key' }
  | {
      type: 'oidc_trust'
      /** Null if the trust names no provider, so that the claims cannot be read. */
      job: TokenJob | null
    }
)

/** The context of a list request. Cursors are bound to its route and organization. */
export function listContext({ clock, cursorKey }: Services, request: FastifyRequest): ListContext {
  const { org_id, plan } = request.actor
  const route = request.routeOptions.url ?? ''
  return { route, orgId: org_id, retentionDays: plan.retention_days, now: clock.now(), key: cursorKey }
}
