import { ApiError } from '../platform/http/errors.ts'
import { newUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { insertOrganization, type Organization } from './organization.store.ts'
import { DEFAULT_PLAN, requireKnownPlan } from './plan.ts'

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

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const NAME_CHARS_MAX = 200

/** The short name in commands and addresses. Throws 400. */
export function requireSlug(slug: string): string {
  if (SLUG.test(slug)) return slug
  throw invalid('A slug has 1 to 63 lower-case letters, digits and hyphens, and does not begin with a hyphen')
}

/** The name for people. Throws 400. */
export function requireName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= NAME_CHARS_MAX) return trimmed
  throw invalid(`A name has 1 to ${NAME_CHARS_MAX} characters`)
}

function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message)
}
