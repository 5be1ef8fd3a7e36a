import { requireKnownPlan } from '../../organizations/known-plan.ts'
import { type Organization, updatePlan } from '../../organizations/organization.store.ts'
import { refuseUnknownOrganization } from '../../organizations/require-organization.ts'
import type { Services } from '../../services.ts'
import { notifyAccessChanged } from './api-key.store.ts'

/** Changes what an organization may do, on every running server at once. Throws 400 for an unknown plan and 404. */
export async function changePlan(
  { sql, plans }: Pick<Services, 'sql' | 'plans'>,
  slug: string,
  plan: string,
): Promise<Organization> {
  requireKnownPlan(plans, plan)
  return sql.begin(async (tx) => {
    const organization = await updatePlan(tx, slug, plan)
    if (!organization) return refuseUnknownOrganization(slug)
    await notifyAccessChanged(tx)
    return organization
  })
}
