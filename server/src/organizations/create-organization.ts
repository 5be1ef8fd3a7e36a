import { ApiError } from '../platform/http/errors.ts'
import { newUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { requireKnownPlan } from './known-plan.ts'
import { insertOrganization, type Organization } from './organization.store.ts'
import { requireName, requireSlug } from './organization-name.ts'
import { DEFAULT_PLAN } from './plan.ts'

export type NewOrganization = {
  slug: string
  /** The slug where absent. */
  name?: string | undefined
  /** `DEFAULT_PLAN` where absent. */
  plan?: string | undefined
}

/** Creates an organization. Throws 400 for a wrong slug, name or plan, and 409 `slug_taken`. */
export async function createOrganization(
  { sql, clock, plans }: Pick<Services, 'sql' | 'clock' | 'plans'>,
  input: NewOrganization,
): Promise<Organization> {
  const now = clock.now()
  const slug = requireSlug(input.slug)
  const name = requireName(input.name ?? slug)
  const plan = requireKnownPlan(plans, input.plan ?? DEFAULT_PLAN)
  const organization = await insertOrganization(sql, { id: newUuid(now), slug, name, plan }, now)
  if (organization) return organization
  throw new ApiError(409, 'slug_taken', `There is an organization "${slug}" already`)
}
