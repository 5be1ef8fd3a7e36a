import { type Author, insertAuditEntry } from '../../../audit/audit.store.ts'
import { tooManyOidcTrusts, trustConflict } from '../../../errors/organizations.ts'
import { lockName } from '../../../platform/db/advisory-lock.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { createInvalidIdError, createNotFoundError } from '../../../platform/http/errors.ts'
import { createUuid, isUuid } from '../../../platform/ids.ts'
import { upsertAllowedHost } from '../../../platform/outbound/allowed-host.store.ts'
import type { Services } from '../../../services.ts'
import { checkGrantedScopes, type Grantor, getCreator, requireExpiry } from '../../scopes.ts'
import { canMatchBoth, canMatchRepository, type KnownRepository } from '../competition.ts'
import type { TrustProvider } from '../token-job.ts'
import {
  countLiveTrusts,
  insertTrust,
  listLiveTrusts,
  lockTrust,
  TRUSTS_OF_ISSUER_MAX,
  TRUSTS_OF_ORGANIZATION_MAX,
  type Trust,
  updateTrustRevoked,
} from './trust.store.ts'
import { checkTrust, type TrustRequest } from './trust-request.ts'

/** Reads the connected repositories of a provider in all other organizations, in batches. */
type ConnectedElsewhere = (tx: Tx, orgId: string, provider: TrustProvider) => AsyncIterable<KnownRepository[]>

export type NewTrust = Omit<Trust, 'last_used_at' | 'revoked_at'>

type Needs = Pick<Services, 'sql' | 'clock' | 'outbound'> & { connectedElsewhere: ConnectedElsewhere }

/**
 * Creates a trust of an organization. Throws 400 for an invalid field, 403 for a scope that the
 * grantor must not give, 409 `too_many_oidc_trusts`, and 409 `trust_conflict` if another
 * organization has a live trust or a connected repository that the conditions could match. The lock
 * makes simultaneous calls see each other's trust.
 */
export async function createTrust(
  needs: Needs,
  orgId: string,
  grantor: Grantor,
  request: TrustRequest,
): Promise<NewTrust> {
  const now = needs.clock.now()
  const expires_at = requireExpiry(request.expiresAt, now)
  const checked = await checkTrust(request, needs.outbound)
  const trust = { id: createUuid(now), ...checked, ...getCreator(grantor), created_at: now, expires_at }
  // An address of the command line is the operator's, who may name a private host.
  const networks = isOperator(grantor) ? ((await needs.outbound.listMissingNetworks(trust.issuer)) ?? []) : []
  await needs.sql.begin(async (tx) => {
    await lockName(tx, `OIDC trusts of ${trust.issuer}`)
    await checkGrantedScopes(tx, grantor, trust.scopes)
    // This lock makes simultaneous calls count each other's trust.
    await lockName(tx, `OIDC trusts of the organization ${orgId}`)
    if ((await countLiveTrusts(tx, orgId, now)) >= TRUSTS_OF_ORGANIZATION_MAX)
      throw tooManyOidcTrusts(TRUSTS_OF_ORGANIZATION_MAX)
    await refuseOtherTrusts(tx, orgId, { trust, grantor })
    await refuseConnectedRepositories(tx, orgId, { trust, grantor }, needs.connectedElsewhere)
    await insertTrust(tx, orgId, trust)
    if (networks.length > 0) await upsertAllowedHost(tx, new URL(trust.issuer).origin, networks, now)
    const { id, name, issuer, conditions, scopes, trusted_events, self_hosted } = trust
    const details = { name, issuer, conditions, scopes, trusted_events, self_hosted }
    await audit(tx, orgId, { author: grantor, action: 'oidc_trust.create', id, details }, now)
  })
  return trust
}

/**
 * Revokes a trust of an organization, or of any (null), on all running servers. Safe to repeat: the
 * time of an earlier revocation stays. Throws 400 and 404.
 */
export async function revokeTrust(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { org_id, id }: { org_id: string | null; id: string },
  author: Author,
): Promise<Trust> {
  if (!isUuid(id.toLowerCase()))
    throw org_id === null ? createInvalidIdError(id, 'trust') : createNotFoundError('trust')
  const now = clock.now()
  return sql.begin(async (tx) => {
    const found = await lockTrust(tx, id)
    if (found === null || (org_id !== null && found.org_id !== org_id)) throw createNotFoundError('trust')
    const { org_id: owner, ...trust } = found
    if (trust.revoked_at !== null) return trust
    await updateTrustRevoked(tx, trust.id, now)
    await audit(tx, owner, { author, action: 'oidc_trust.revoke', id: trust.id, details: { name: trust.name } }, now)
    return { ...trust, revoked_at: now }
  })
}

type Wanted = { trust: NewTrust; grantor: Grantor }

async function refuseOtherTrusts(tx: Tx, orgId: string, { trust, grantor }: Wanted): Promise<void> {
  const live = await listLiveTrusts(tx, trust.issuer, trust.created_at)
  if (live.length >= TRUSTS_OF_ISSUER_MAX)
    throw trustConflict(`The issuer has ${TRUSTS_OF_ISSUER_MAX} live trusts already.`)
  const rival = live.find((other) => other.organization.id !== orgId && canMatchBoth(trust, other))
  if (!rival) return
  const shown = isOperator(grantor) ? ` (${rival.id})` : ''
  throw trustConflict(`The conditions could match the same token as a trust of another organization${shown}.`)
}

async function refuseConnectedRepositories(
  tx: Tx,
  orgId: string,
  { trust, grantor }: Wanted,
  connected: ConnectedElsewhere,
): Promise<void> {
  if (trust.provider === null) return
  for await (const repositories of connected(tx, orgId, trust.provider)) {
    const rival = repositories.find((repository) => canMatchRepository(trust, repository))
    if (!rival) continue
    const shown = isOperator(grantor) ? rival.full_name : 'a repository'
    throw trustConflict(`The conditions could match ${shown}, which another organization has connected.`)
  }
}

/** People do not see what other organizations have. */
function isOperator({ principal }: Grantor): boolean {
  return principal.type === 'command_line'
}

type Audited = { author: Author; action: string; id: string; details: Record<string, unknown> }

async function audit(tx: Tx, orgId: string, { author, action, id, details }: Audited, at: Date): Promise<void> {
  const { principal, reason } = author
  await insertAuditEntry(tx, orgId, { principal, action, object: { type: 'oidc_trust', id }, reason, details }, at)
}
