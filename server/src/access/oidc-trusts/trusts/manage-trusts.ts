import { type Author, insertAuditEntry } from '../../../audit/audit.store.ts'
import type { Config } from '../../../config.ts'
import { tooManyOidcTrusts } from '../../../errors/organizations.ts'
import {
  findOrganizationById,
  isOnlyOrganization,
  lockOrganizations,
} from '../../../organizations/organization.store.ts'
import { lockName } from '../../../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'
import { createInvalidIdError, createNotFoundError } from '../../../platform/http/errors.ts'
import { createUuid, isUuid } from '../../../platform/ids.ts'
import { upsertAllowedHost } from '../../../platform/outbound/allowed-host.store.ts'
import type { Services } from '../../../services.ts'
import { checkGrantedScopes, checkGrantsOthers, type Grantor, getCreator, requireExpiry } from '../../scopes.ts'
import { type KnownRepository, listKnownIds, type NamedId } from '../named-id.ts'
import type { TrustProvider } from '../token-job.ts'
import {
  countLiveTrusts,
  insertTrust,
  listTrusts,
  lockTrust,
  type NewTrust,
  TRUSTS_OF_ORGANIZATION_MAX,
  type Trust,
  updateTrustRevoked,
} from './trust.store.ts'
import { deletePins, insertPins, listShownPins, PINS_OF_TRUST_MAX, type TrustPin } from './trust-pin.store.ts'
import { type AudienceTerms, checkTrust, requireAudience, type TrustRequest } from './trust-request.ts'

/** Reads the connected repositories of an organization at a provider, in batches. */
type ConnectedRepositories = (tx: Tx, orgId: string, provider: TrustProvider) => AsyncIterable<KnownRepository[]>

/** A trust with some of the names that it has let in, refused ones first. */
export type ListedTrust = Trust & { pins: TrustPin[] }

type Needs = Pick<Services, 'sql' | 'clock' | 'outbound'> & {
  config: Pick<Config, 'baseUrl'>
  connectedRepositories: ConnectedRepositories
}

/**
 * Creates a trust of an organization, and pins the names that its connections know. Throws 400 for
 * an invalid field, 403 for a scope that the grantor must not give, and 409 `too_many_oidc_trusts`.
 * With the lock, a trust for the bare origin is older than every other organization.
 */
export async function createTrust(
  needs: Needs,
  orgId: string,
  grantor: Grantor,
  request: TrustRequest,
): Promise<ListedTrust> {
  const now = needs.clock.now()
  const expires_at = requireExpiry(request.expiresAt, now)
  const checked = {
    ...(await checkTrust(request, needs.outbound, isOperator(grantor))),
    ...getCreator(grantor),
    created_at: now,
    expires_at,
  }
  // An address of the command line is the operator's, who may name a private host.
  const networks = isOperator(grantor) ? ((await needs.outbound.listMissingNetworks(checked.issuer)) ?? []) : []
  return needs.sql.begin(async (tx) => {
    await lockOrganizations(tx)
    const audience = requireAudience(request.audience, await readAudienceTerms(tx, orgId, needs.config, grantor))
    await checkGrantedScopes(tx, grantor, checked.scopes)
    if (checked.speaks_for.length > 0) await checkGrantsOthers(tx, grantor)
    // This lock makes simultaneous calls count each other's trust.
    await lockName(tx, `OIDC trusts of the organization ${orgId}`)
    if ((await countLiveTrusts(tx, orgId, now)) >= TRUSTS_OF_ORGANIZATION_MAX)
      throw tooManyOidcTrusts(TRUSTS_OF_ORGANIZATION_MAX)
    const trust = { id: createUuid(now), ...checked, audience }
    await insertTrust(tx, orgId, trust)
    await pinConnected(tx, orgId, trust, needs.connectedRepositories)
    if (networks.length > 0) await upsertAllowedHost(tx, new URL(trust.issuer).origin, networks, now)
    const { id, name, issuer, conditions, scopes, trusted_events, self_hosted, speaks_for, as } = trust
    const details = { name, issuer, audience, conditions, scopes, trusted_events, self_hosted, speaks_for, as }
    await audit(tx, orgId, { author: grantor, action: 'oidc_trust.create', id, details }, now)
    return requireListed(tx, orgId, { ...trust, last_used_at: null, revoked_at: null })
  })
}

/** What decides about the audience of a new trust; `grantor` is who creates it. */
async function readAudienceTerms(
  db: Db,
  orgId: string,
  { baseUrl }: Pick<Config, 'baseUrl'>,
  grantor: Pick<Grantor, 'principal'>,
): Promise<AudienceTerms> {
  const organization = await findOrganizationById(db, orgId)
  if (organization === null) throw createNotFoundError('organization')
  const isOnly = await isOnlyOrganization(db, orgId)
  return { origin: new URL(baseUrl).origin, slug: organization.slug, isOnly, isOperator: isOperator(grantor) }
}

function isOperator({ principal }: Pick<Grantor, 'principal'>): boolean {
  return principal.type === 'command_line'
}

async function pinConnected(tx: Tx, orgId: string, trust: NewTrust, connected: ConnectedRepositories): Promise<void> {
  if (trust.provider === null) return
  const pins = new Map<string, NamedId>()
  for await (const repositories of connected(tx, orgId, trust.provider)) {
    for (const pin of repositories.flatMap((repository) => listKnownIds(trust, repository))) pins.set(pin.name, pin)
    if (pins.size >= PINS_OF_TRUST_MAX) break
  }
  if (pins.size > 0) await insertPins(tx, { org_id: orgId, trust_id: trust.id }, [...pins.values()], trust.created_at)
}

/** The trusts of an organization, oldest first, with their pins. */
export async function listTrustsWithPins(db: Db, orgId: string): Promise<ListedTrust[]> {
  const trusts = await listTrusts(db, orgId)
  const pins = Map.groupBy(
    await listShownPins(
      db,
      orgId,
      trusts.map(({ id }) => id),
    ),
    ({ trust_id }) => trust_id,
  )
  return trusts.map((trust) => ({ ...trust, pins: (pins.get(trust.id) ?? []).map(({ trust_id: _, ...pin }) => pin) }))
}

async function requireListed(tx: Tx, orgId: string, trust: Trust): Promise<ListedTrust> {
  const pins = await listShownPins(tx, orgId, [trust.id])
  return { ...trust, pins: pins.map(({ trust_id: _, ...pin }) => pin) }
}

/** Names a trust of an organization, or of any (null). */
type TrustName = { org_id: string | null; id: string }

/**
 * Revokes a trust on all running servers. Safe to repeat: the time of an earlier revocation stays.
 * Throws 400 and 404.
 */
export async function revokeTrust(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  name: TrustName,
  author: Author,
): Promise<ListedTrust> {
  const now = clock.now()
  return sql.begin(async (tx) => {
    const { org_id, ...trust } = await requireTrust(tx, name)
    if (trust.revoked_at !== null) return requireListed(tx, org_id, trust)
    await updateTrustRevoked(tx, trust.id, now)
    await audit(tx, org_id, { author, action: 'oidc_trust.revoke', id: trust.id, details: { name: trust.name } }, now)
    return requireListed(tx, org_id, { ...trust, revoked_at: now })
  })
}

/**
 * Releases a name of a trust, or all (null), so that the next token pins it to its id. Throws 400
 * and 404.
 */
export async function removePins(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { pin, ...named }: TrustName & { pin: string | null },
  author: Author,
): Promise<ListedTrust> {
  return sql.begin(async (tx) => {
    const { org_id, ...trust } = await requireTrust(tx, named)
    const { count, pins } = await deletePins(tx, { org_id, trust_id: trust.id }, pin)
    if (pin !== null && count === 0) throw createNotFoundError('pinned name')
    const details = { name: trust.name, count, pins }
    await audit(tx, org_id, { author, action: 'oidc_trust.unpin', id: trust.id, details }, clock.now())
    return requireListed(tx, org_id, trust)
  })
}

async function requireTrust(tx: Tx, { org_id, id }: TrustName): Promise<Trust & { org_id: string }> {
  if (!isUuid(id.toLowerCase()))
    throw org_id === null ? createInvalidIdError(id, 'trust') : createNotFoundError('trust')
  const found = await lockTrust(tx, id)
  if (found === null || (org_id !== null && found.org_id !== org_id)) throw createNotFoundError('trust')
  return found
}

type Audited = { author: Author; action: string; id: string; details: Record<string, unknown> }

async function audit(tx: Tx, orgId: string, { author, action, id, details }: Audited, at: Date): Promise<void> {
  const { principal, reason } = author
  await insertAuditEntry(tx, orgId, { principal, action, object: { type: 'oidc_trust', id }, reason, details }, at)
}
