import { type Author, COMMAND_LINE, insertAuditEntry } from '../audit/audit.store.ts'
import type { Environment } from '../config.ts'
import { tooManyApiKeys } from '../errors/organizations.ts'
import {
  insertOrganization,
  listOrganizations,
  lockOrganizations,
  type Organization,
  updatePlan,
} from '../organizations/organization.store.ts'
import { rejectUnknownOrganization } from '../organizations/organization.ts'
import { DEFAULT_PLAN, requireKnownPlan } from '../organizations/plan.ts'
import { lockName } from '../platform/db/advisory-lock.ts'
import type { Tx } from '../platform/db/sql.ts'
import { createInvalidIdError, createNotFoundError, invalidRequest } from '../platform/http/errors.ts'
import { createUuid, isUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import {
  API_KEYS_MAX,
  type ApiKey,
  countLiveApiKeys,
  insertApiKey,
  lockApiKey,
  notifyAccessChanged,
  updateApiKeyRevoked,
} from './api-key.store.ts'
import { createKeyText, hashApiKey } from './api-key.ts'
import {
  checkGrantedScopes,
  type Grantor,
  getCreator,
  OPERATOR_GRANTOR,
  requireExpiry,
  requirePatterns,
  requireScopes,
  SCOPES,
} from './scopes.ts'

type ApiKeyRequest = {
  name: string
  scopes: readonly string[]
  environment: Environment
  /** Null for a key that never expires. */
  expiresAt: Date | null
  /** Globs of the repositories that the key speaks about; null or absent for all. */
  repositories?: readonly string[] | null
}

/**
 * A new key with its secret. Only the hash of the secret is stored, so it can be shown once only.
 */
type NewKey = Omit<ApiKey, 'revoked_at' | 'last_used_at'> & { key: string }

const NAME_CHARS_MAX = 100

/**
 * Creates an API key of an organization. Throws 400 for an invalid name, scope or time, 403 for a
 * scope that the grantor must not give, and 409 `too_many_api_keys`.
 */
export async function createApiKey(
  tx: Tx,
  orgId: string,
  { grantor, expiresAt, ...request }: ApiKeyRequest & { grantor: Grantor },
  now: Date,
): Promise<NewKey> {
  const { principal, reason } = grantor
  const name = request.name.trim()
  if (name.length < 1 || name.length > NAME_CHARS_MAX)
    throw invalidRequest(`A key name must have 1 to ${NAME_CHARS_MAX} characters`)
  const scopes = requireScopes(request.scopes)
  const repositories = request.repositories ? requirePatterns('repositories', request.repositories) : null
  await checkGrantedScopes(tx, grantor, scopes)
  // The lock makes simultaneous calls count each other's key.
  await lockName(tx, `API keys of ${orgId}`)
  if ((await countLiveApiKeys(tx, orgId, now)) >= API_KEYS_MAX) throw tooManyApiKeys(API_KEYS_MAX)
  const stored = {
    id: createUuid(now),
    name,
    scopes,
    environment: request.environment,
    ...getCreator(grantor),
    created_at: now,
    expires_at: requireExpiry(expiresAt, now),
    repositories,
  }
  const key = createKeyText(request.environment)
  await insertApiKey(tx, orgId, { ...stored, key_sha256: hashApiKey(key) })
  const { environment, expires_at } = stored
  const entry = { principal, reason, action: 'api_key.create', object: { type: 'api_key', id: stored.id } }
  await insertAuditEntry(tx, orgId, { ...entry, details: { name, scopes, environment, expires_at, repositories } }, now)
  return { ...stored, key }
}

/**
 * Revokes an API key of an organization, or of any (null), on all running servers. Safe to repeat:
 * the time of an earlier revocation stays. Throws 400 and 404.
 */
export async function revokeApiKey(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { org_id, id }: { org_id: string | null; id: string },
  author: Author,
): Promise<ApiKey> {
  if (!isUuid(id.toLowerCase()))
    throw org_id === null ? createInvalidIdError(id, 'key') : createNotFoundError('API key')
  const now = clock.now()
  return sql.begin(async (tx) => {
    const found = await lockApiKey(tx, id)
    if (found === null || (org_id !== null && found.org_id !== org_id)) throw createNotFoundError('API key')
    const { org_id: owner, ...key } = found
    if (key.revoked_at !== null) return key
    await updateApiKeyRevoked(tx, key.id, now)
    const entry = { ...author, action: 'api_key.revoke', object: { type: 'api_key', id: key.id } }
    await insertAuditEntry(tx, owner, { ...entry, details: { name: key.name } }, now)
    return { ...key, revoked_at: now }
  })
}

/**
 * Changes the plan of an organization on all running servers. Throws 400 for an unknown plan and
 * 404.
 */
export async function assignPlan(
  { sql, plans }: Pick<Services, 'sql' | 'plans'>,
  slug: string,
  plan: string,
): Promise<Organization> {
  requireKnownPlan(plans, plan)
  return sql.begin(async (tx) => {
    const organization = await updatePlan(tx, slug, plan)
    if (!organization) return rejectUnknownOrganization(slug)
    await notifyAccessChanged(tx)
    return organization
  })
}

const SLUG = 'default'
/** The first key names the command that created it. */
const START: Grantor = { ...OPERATOR_GRANTOR, principal: { ...COMMAND_LINE, name: 'start' } }

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
    await lockOrganizations(tx)
    if ((await listOrganizations(tx)).length > 0) return null
    const wanted = { id: createUuid(now), slug: SLUG, name: SLUG, plan: DEFAULT_PLAN }
    const organization = await insertOrganization(tx, wanted, now)
    if (!organization) return null
    const request = {
      name: 'first key',
      scopes: SCOPES,
      environment: config.environment,
      expiresAt: null,
      grantor: START,
    }
    return { organization, key: await createApiKey(tx, organization.id, request, now) }
  })
}
