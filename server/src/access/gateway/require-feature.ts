import { planRequired } from '../../errors/organizations.ts'
import { type PlanFeature, selectSmallestPlan } from '../../organizations/plan.ts'
import type { Services } from '../../services.ts'
import type { Actor } from '../actor.ts'

/** Throws 402 `plan_required` if the plan of the organization does not include the feature. */
export function requireFeature({ plan }: Actor, feature: PlanFeature | undefined, { plans }: Services): void {
  if (!feature || plan.features.includes(feature)) return
  const requiredPlan = selectSmallestPlan(plans, feature)
  throw planRequired(`This feature requires the plan ${requiredPlan} or above.`, { requiredPlan })
}
