import type { FastifyRequest } from 'fastify'
import type { Author, Principal } from '../audit/audit.store.ts'
import { planRequired } from '../errors/organizations.ts'
import type { Organization } from '../organizations/organization.store.ts'
import { type Plan, type PlanFeature, selectSmallestPlan } from '../organizations/plan.ts'
import type { ListContext } from '../platform/http/lists.ts'
import type { Services } from '../services.ts'
import type { TokenJob } from './oidc-trusts/token-job.ts'
import type { Permission } from './role.ts'
import type { Scope } from './scopes.ts'
import { formatPerson } from './user.ts'

/** The authenticated caller: an organization and the credential that it used. */
export type Actor = {
  org_id: string
  organization: Organization
  plan: Plan
  credential: Credential
}

/** What authenticates a request. `id` is the id of the API key, the OIDC trust or the user. */
export type Credential = MachineCredential | PersonCredential

/** What authenticates a request to /v1. */
export type MachineCredential = { id: string; name: string; scopes: readonly Scope[] } & (
  | {
      type: 'api_key'
      /** Globs of the repositories that the key speaks about; null for all. */
      repositories: readonly string[] | null
    }
  | {
      type: 'oidc_trust'
      /** Null if the trust names no provider, so that the claims cannot be read. */
      job: TokenJob | null
    }
)

/** A person who is signed in, with the permissions of their role in the organization. */
type PersonCredential = {
  type: 'user'
  id: string
  name: string
  email: string
  permissions: readonly Permission[]
}

/** Who a change is recorded as. */
export function toPrincipal({ credential }: Actor): Principal {
  if (credential.type === 'oidc_trust') throw new Error('Changes by CI jobs are not recorded.')
  return { type: credential.type, id: credential.id, name: credential.name }
}

/**
 * Who makes a change, with the reason that the request gives. A person is named with the address:
 * the name alone may be anybody's, and gates, policies, keys and trusts decide what is deployed.
 */
export function toAuthor(actor: Actor, { reason = null }: { reason?: string | null }): Author {
  const { credential } = actor
  const principal = toPrincipal(actor)
  const name = credential.type === 'user' ? formatPerson(credential.name, credential.email) : principal.name
  return { principal: { ...principal, name }, reason }
}

/** Who states something, in words. */
export function formatCredential({ credential }: Actor): string {
  if (credential.type === 'user') return formatPerson(credential.name, credential.email)
  return credential.type === 'api_key' ? `the API key ${credential.name}` : `a CI job of the trust ${credential.name}`
}

/** The context of a list request. Cursors are bound to its route and organization. */
export function listContext({ clock, cursorKey }: Services, request: FastifyRequest): ListContext {
  const { org_id, plan } = request.actor
  const route = request.routeOptions.url ?? ''
  return { route, orgId: org_id, retentionDays: plan.retention_days, now: clock.now(), key: cursorKey }
}

/** Throws 402 `plan_required` if the plan of the organization does not include the feature. */
export function requireFeature({ plan }: Actor, feature: PlanFeature | undefined, { plans }: Services): void {
  if (!feature || plan.features.includes(feature)) return
  const requiredPlan = selectSmallestPlan(plans, feature)
  throw planRequired(`This feature requires the plan ${requiredPlan} or above.`, { requiredPlan })
}
