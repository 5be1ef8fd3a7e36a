import type { Environment } from '../../config.ts'
import {
  insertOrganization,
  listOrganizations,
  type Organization,
  updatePlan,
} from '../../organizations/organization.store.ts'
import { DEFAULT_PLAN, requireKnownPlan } from '../../organizations/plan.ts'
import { refuseUnknownOrganization } from '../../organizations/require-organization.ts'
import type { Db } from '../../platform/db/sql.ts'
import { ApiError, invalidId, notFound } from '../../platform/http/errors.ts'
import { isUuid, newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { requireScopes, SCOPES } from '../scopes.ts'
import { type ApiKey, insertApiKey, markRevoked, notifyAccessChanged } from './api-key.store.ts'
import { generateApiKey, hashApiKey } from './api-key.ts'

type ApiKeyRequest = {
  name: string
  scopes: readonly string[]
  environment: Environment
  createdBy: string
  /** Null for a key that never expires. */
  lifetimeMs: number | null
}

/**
 * A new key with its secret. Only the hash of the secret is stored, so it can be shown once only.
 */
type NewKey = Pick<ApiKey, 'id' | 'name' | 'scopes' | 'environment' | 'expires_at'> & { key: string }

const NAME_CHARS_MAX = 100

/** Creates an API key of an organization. Throws 400 for an invalid name or scope. */
export async function createApiKey(db: Db, orgId: string, request: ApiKeyRequest, now: Date): Promise<NewKey> {
  const { environment, createdBy, lifetimeMs } = request
  const stored = {
    id: newUuid(now),
    name: requireKeyName(request.name),
    scopes: requireScopes(request.scopes),
    environment,
    expires_at: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs),
  }
  const key = generateApiKey(environment)
  await insertApiKey(db, orgId, { ...stored, key_sha256: hashApiKey(key), created_by: createdBy, created_at: now })
  return { ...stored, key }
}

function requireKeyName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= NAME_CHARS_MAX) return trimmed
  throw new ApiError(400, 'invalid_request', `A key name must have 1 to ${NAME_CHARS_MAX} characters`)
}

/** Revokes an API key on all running servers. Safe to repeat. Throws 400 and 404. */
export async function revokeApiKey({ sql, clock }: Pick<Services, 'sql' | 'clock'>, id: string): Promise<ApiKey> {
  if (!isUuid(id.toLowerCase())) throw invalidId(id, 'key')
  const key = await markRevoked(sql, id, clock.now())
  if (!key) throw notFound('API key')
  return key
}

/**
 * Changes the plan of an organization on all running servers. Throws 400 for an unknown plan and
 * 404.
 */
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

const SLUG = 'default'

export type FirstOrganization = { organization: Organization; key: NewKey }

/**
 * Creates the organization `default` with one key that has all scopes. Returns null if an
 * organization exists already, or if another server creates it at the same time: the unique slug
 * lets only one succeed.
 */
export async function createFirstOrganization(services: Services): Promise<FirstOrganization | null> {
  const { sql, clock, config } = services
  const now = clock.now()
  return sql.begin(async (tx) => {
    if ((await listOrganizations(tx)).length > 0) return null
    const wanted = { id: newUuid(now), slug: SLUG, name: SLUG, plan: DEFAULT_PLAN }
    const organization = await insertOrganization(tx, wanted, now)
    if (!organization) return null
    const request = {
      name: 'first key',
      scopes: SCOPES,
      environment: config.environment,
      createdBy: 'start',
      lifetimeMs: null,
    }
    return { organization, key: await createApiKey(tx, organization.id, request, now) }
  })
}
