import { insertAuditEntry, OPERATOR } from '../audit/audit.store.ts'
import { slugTaken } from '../errors/commands.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db, Sql } from '../platform/db/sql.ts'
import { invalidRequest, missing } from '../platform/http/errors.ts'
import { createUuid } from '../platform/ids.ts'
import { isDisplayName } from '../platform/text.ts'
import {
  findOrganization,
  insertOrganization,
  lockOrganizations,
  type Organization,
  type OrganizationRules,
  updateRules,
} from './organization.store.ts'
import { DEFAULT_PLAN, type Plans, requireKnownPlan } from './plan.ts'

type NewOrganization = {
  slug: string
  /** The default is the slug. */
  name?: string | undefined
  /** The default is `DEFAULT_PLAN`. */
  plan?: string | undefined
}

/** Creates an organization. Throws 400 for an invalid slug, name or plan, and 409 `slug_taken`. */
export async function createOrganization(
  { sql, clock, plans }: { sql: Sql; clock: Clock; plans: Plans },
  input: NewOrganization,
): Promise<Organization> {
  const now = clock.now()
  const { slug } = input
  if (!isSlug(slug))
    throw invalidRequest(
      'A slug must have 1 to 63 lowercase letters, digits and hyphens, and must not start with a hyphen',
    )
  const name = requireName(input.name ?? slug)
  const plan = requireKnownPlan(plans, input.plan ?? DEFAULT_PLAN)
  const organization = await sql.begin(async (tx) => {
    await lockOrganizations(tx)
    return insertOrganization(tx, { id: createUuid(now), slug, name, plan }, now)
  })
  if (organization) return organization
  throw slugTaken(slug)
}

/** Changes what an organization lets count. Throws 404 if the organization does not exist. */
export async function updateOrganizationRules(
  { sql, clock }: { sql: Sql; clock: Clock },
  slug: string,
  rules: OrganizationRules,
): Promise<Organization> {
  return sql.begin(async (tx) => {
    const organization = await updateRules(tx, slug, rules)
    if (organization === null) return rejectUnknownOrganization(slug)
    const object = { type: 'organization', id: organization.id }
    const entry = { ...OPERATOR, action: 'organization.update', object, details: rules }
    await insertAuditEntry(tx, organization.id, entry, clock.now())
    return organization
  })
}

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const NAME_CHARS_MAX = 200

export function isSlug(text: string): boolean {
  return SLUG.test(text)
}

/** Trims and validates the display name. Throws 400. */
export function requireName(name: string): string {
  const trimmed = name.trim()
  if (isDisplayName(trimmed, NAME_CHARS_MAX)) return trimmed
  throw invalidRequest(`A name must have 1 to ${NAME_CHARS_MAX} characters, and no control characters`)
}

/** Returns the organization with this slug. Throws 404 if it does not exist. */
export async function requireOrganization(db: Db, slug: string): Promise<Organization> {
  return (await findOrganization(db, slug)) ?? rejectUnknownOrganization(slug)
}

export function rejectUnknownOrganization(slug: string): never {
  throw missing(`Organization "${slug}" does not exist`)
}
