import type { Actor } from '../../access/actor.ts'
import { planRequired } from '../../errors/organizations.ts'
import { selectSmallestPlan } from '../../organizations/plan.ts'
import type { Services } from '../../services.ts'

/**
 * Throws 402 `plan_required` unless the plan includes signed statements. Call it after the object
 * was found: an unknown id is 404 on every plan.
 */
export function requireStatements({ plan }: Actor, { plans }: Pick<Services, 'plans'>): void {
  if (plan.features.includes('signed_statements')) return
  const requiredPlan = selectSmallestPlan(plans, 'signed_statements')
  const message = `Signed statements require the plan ${requiredPlan} or above.`
  throw planRequired(message, { requiredPlan })
}
