import { ApiError } from '../platform/http/errors.ts'
import type { Plans } from './plan.ts'

/** The name of a plan that exists. Throws 400 with the names there are. */
export function requireKnownPlan(plans: Plans, name: string): string {
  if (plans.has(name)) return name
  throw new ApiError(
    400,
    'invalid_request',
    `There is no plan "${name}"; the plans are ${[...plans.keys()].join(', ')}`,
  )
}
