import type { Environment } from '../../config.ts'
import { requireKnownPlan } from '../../organizations/known-plan.ts'
import { type Organization, updatePlan } from '../../organizations/organization.store.ts'
import { refuseUnknownOrganization } from '../../organizations/require-organization.ts'
import type { Db } from '../../platform/db/sql.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { requireScopes } from '../scopes.ts'
import { type ApiKey, insertApiKey, markRevoked, notifyAccessChanged } from './api-key.store.ts'
import { generateApiKey, hashApiKey } from './api-key.ts'

export type ApiKeyRequest = {
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
export type NewKey = Pick<ApiKey, 'id' | 'name' | 'scopes' | 'environment' | 'expires_at'> & { key: string }

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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Revokes an API key on all running servers. Safe to repeat. Throws 400 and 404. */
export async function revokeApiKey({ sql, clock }: Pick<Services, 'sql' | 'clock'>, id: string): Promise<ApiKey> {
  if (!UUID.test(id)) throw new ApiError(400, 'invalid_request', `"${id.slice(0, 80)}" is not a key id (a UUID)`)
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
