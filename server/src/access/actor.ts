import type { Organization } from '../organizations/organization.store.ts'
import type { Plan } from '../organizations/plan.ts'
import type { Scope } from './scopes.ts'

/** Who is calling: an organization, through one of its credentials. */
export type Actor = {
  org_id: string
  organization: Organization
  plan: Plan
  credential: { type: 'api_key'; id: string; name: string; scopes: readonly Scope[] }
}
