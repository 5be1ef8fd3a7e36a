import type { Actor } from '../../access/actor.ts'
import { smallestPlanWith } from '../../organizations/plan.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'

/**
 * Why there is no statement (provenance.md §4). The first that applies is reported, in this order.
 */
export type StatementReason =
  | 'NOT_PROTECTED'
  | 'NOT_LANDED'
  | 'NO_COMMIT'
  | 'NOT_DEPLOYED'
  | 'LINEAGE_NOT_READY'
  | 'NO_CHANGE'
  | 'RECORD_EXPIRED'
  | 'CHAIN_BROKEN'

const NOT_FOUND: readonly StatementReason[] = ['NOT_PROTECTED', 'NO_CHANGE']

/** 409 `statement_unavailable`, or 404 `not_found`, with the reason. */
export function unavailable(reason: StatementReason, message: string): ApiError {
  if (NOT_FOUND.includes(reason)) return new ApiError(404, 'not_found', message, { reason })
  return new ApiError(409, 'statement_unavailable', message, { reason })
}

/**
 * Throws 402 `plan_required` unless the plan includes signed statements. Call it after the object
 * was found: an unknown id is 404 on every plan.
 */
export function requireStatements({ plan }: Actor, { plans }: Pick<Services, 'plans'>): void {
  if (plan.features.includes('signed_statements')) return
  const requiredPlan = smallestPlanWith(plans, 'signed_statements')
  const message = `Signed statements require the plan ${requiredPlan} or above.`
  throw new ApiError(402, 'plan_required', message, { requiredPlan })
}
