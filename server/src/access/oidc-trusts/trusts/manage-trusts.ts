import { COMMAND_LINE, type Principal, recordAudit } from '../../../audit/audit.store.ts'
import { lockName } from '../../../platform/db/advisory-lock.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { ApiError, invalidId, notFound } from '../../../platform/http/errors.ts'
import { isUuid, newUuid } from '../../../platform/ids.ts'
import type { Services } from '../../../services.ts'
import { type KnownRepository, mayMatchBoth, mayMatchRepository } from '../conditions/competition.ts'
import type { TrustProvider } from '../token-job.ts'
import {
  insertTrust,
  listLiveTrusts,
  lockTrust,
  markTrustRevoked,
  TRUSTS_OF_ISSUER_MAX,
  type Trust,
} from './trust.store.ts'
import { checkTrust, type TrustRequest } from './trust-request.ts'

/** Reads the connected repositories of a provider in all other organizations, in batches. */
type ConnectedElsewhere = (tx: Tx, orgId: string, provider: TrustProvider) => AsyncIterable<KnownRepository[]>

export type NewTrust = Omit<Trust, 'last_used_at' | 'revoked_at' | 'created_by' | 'created_at'>

type Needs = Pick<Services, 'sql' | 'clock'> & { connectedElsewhere: ConnectedElsewhere }

/**
 * Creates a trust of an organization. Throws 400 for an invalid field, and 409 if another
 * organization has a live trust or a connected repository that the conditions could match. The lock
 * makes simultaneous calls see each other's trust.
 */
export async function createTrust(needs: Needs, orgId: string, request: TrustRequest): Promise<NewTrust> {
  const now = needs.clock.now()
  const { lifetimeMs, ...checked } = checkTrust(request)
  const expires_at = lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs)
  const trust = { id: newUuid(now), ...checked, expires_at }
  await needs.sql.begin(async (tx) => {
    await lockName(tx, `OIDC trusts of ${trust.issuer}`)
    await refuseOtherTrusts(tx, orgId, trust, now)
    await refuseConnectedRepositories(tx, orgId, trust, needs.connectedElsewhere)
    await insertTrust(tx, orgId, { ...trust, created_by: COMMAND_LINE.name, created_at: now })
    const { id, name, issuer, conditions, scopes } = trust
    await audit(tx, orgId, { id, action: 'oidc_trust.create', details: { name, issuer, conditions, scopes } }, now)
  })
  return trust
}

/**
 * Revokes a trust on all running servers. Safe to repeat: the time of an earlier revocation stays.
 * Throws 400 and 404.
 */
export async function revokeTrust({ sql, clock }: Pick<Services, 'sql' | 'clock'>, id: string): Promise<Trust> {
  if (!isUuid(id.toLowerCase())) throw invalidId(id, 'trust')
  const now = clock.now()
  return sql.begin(async (tx) => {
    const found = await lockTrust(tx, id)
    if (found === null) throw notFound('trust')
    const { org_id, ...trust } = found
    if (trust.revoked_at !== null) return trust
    await markTrustRevoked(tx, trust.id, now)
    await audit(tx, org_id, { id: trust.id, action: 'oidc_trust.revoke', details: { name: trust.name } }, now)
    return { ...trust, revoked_at: now }
  })
}

async function refuseOtherTrusts(tx: Tx, orgId: string, trust: NewTrust, now: Date): Promise<void> {
  const live = await listLiveTrusts(tx, trust.issuer, now)
  if (live.length >= TRUSTS_OF_ISSUER_MAX) throw conflict(`The issuer has ${TRUSTS_OF_ISSUER_MAX} live trusts already.`)
  const rival = live.find((other) => other.organization.id !== orgId && mayMatchBoth(trust, other))
  if (rival)
    throw conflict(`The conditions could match the same token as a trust of another organization (${rival.id}).`)
}

async function refuseConnectedRepositories(tx: Tx, orgId: string, trust: NewTrust, connected: ConnectedElsewhere) {
  if (trust.provider === null) return
  for await (const repositories of connected(tx, orgId, trust.provider)) {
    const rival = repositories.find((repository) => mayMatchRepository(trust, repository))
    if (rival)
      throw conflict(`The conditions could match ${rival.full_name}, which another organization has connected.`)
  }
}

function conflict(message: string): ApiError {
  return new ApiError(409, 'trust_conflict', message)
}

type Audited = { id: string; action: string; details: Record<string, unknown> }

async function audit(tx: Tx, orgId: string, { id, action, details }: Audited, at: Date): Promise<void> {
  const principal: Principal = COMMAND_LINE
  await recordAudit(tx, orgId, { principal, action, object: { type: 'oidc_trust', id }, reason: null, details }, at)
}
