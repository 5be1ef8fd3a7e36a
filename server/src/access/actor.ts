import type { Organization } from '../organizations/organization.store.ts'
import type { Plan } from '../organizations/plan.ts'
import type { Scope } from './scopes.ts'

/** The authenticated caller: an organization and the credential that it used. */
export type Actor = {
  org_id: string
  organization: Organization
  plan: Plan
  credential: { type: 'api_key'; id: string; name: string; scopes: readonly Scope[] }
}
