import type { Services } from '../../../services.ts'
import { formatReach } from '../../scopes.ts'
import { type Claims, getClaimTexts } from '../claims.ts'
import { type CheckedCondition, checkConditions } from '../conditions.ts'
import { readTokenJob } from '../read-token-job.ts'
import type { TokenJob } from '../token-job.ts'
import { checkPinned } from './require-pinned.ts'
import { decodeClaims, type RejectionReason, TokenRejection, TokenVerifier } from './token-verifier.ts'
import { listTrusts, type Trust } from './trust.store.ts'

/** A live trust beside the claims of a token, whose signature need not be valid. */
type CheckedTrust = Pick<Trust, 'id' | 'name'> & {
  issuer: CheckedCondition
  audience: CheckedCondition
  conditions: CheckedCondition[]
}

/** Whether an organization accepts a token, and why not. */
export type TokenExplanation = {
  accepted: boolean
  reason: RejectionReason | null
  details: string | null
  /** The trust that accepts the token, and the job that the claims describe. */
  trust: Pick<Trust, 'id' | 'name'> | null
  job: TokenJob | null
  /** What the token may state, close and open, in words. */
  reach: string | null
  trusts: CheckedTrust[]
}

type Needs = Pick<Services, 'sql' | 'clock' | 'log' | 'config' | 'outbound'>

/**
 * Verifies a token as the gateway does, and compares it with every live trust of an organization.
 * Says nothing of other organizations, and pins no name.
 */
export async function explainToken(needs: Needs, orgId: string, token: string): Promise<TokenExplanation> {
  const [verdict, trusts] = await Promise.all([verdictOn(needs, orgId, token), listTrusts(needs.sql, orgId)])
  const now = needs.clock.now()
  const live = trusts.filter(({ revoked_at, expires_at }) => !revoked_at && (!expires_at || expires_at > now))
  const claims = claimsOrNone(token)
  return { ...verdict, trusts: live.map((trust) => checkTrust(trust, claims)) }
}

async function verdictOn(needs: Needs, orgId: string, token: string): Promise<Omit<TokenExplanation, 'trusts'>> {
  try {
    const { trust, claims } = await new TokenVerifier(needs).verify(token, orgId)
    const job = readTokenJob(trust, claims)
    await checkPinned(needs, trust, job)
    // Without a job, what the token says of itself cannot be read, and it speaks as a key does.
    const speaks_as = job === null ? 'api_key' : job.foreign_code === 'none' ? 'job' : 'untrusted'
    const reach = formatReach({ speaks_as, scopes: trust.scopes, repositories: null, others: trust })
    return { accepted: true, reason: null, details: null, trust: { id: trust.id, name: trust.name }, job, reach }
  } catch (error) {
    if (!(error instanceof TokenRejection)) throw error
    return { accepted: false, reason: error.reason, details: error.details, trust: null, job: null, reach: null }
  }
}

function checkTrust({ id, name, issuer, audience, conditions }: Trust, claims: Claims): CheckedTrust {
  return {
    id,
    name,
    issuer: checkText('iss', issuer, claims),
    audience: checkText('aud', audience, claims),
    conditions: checkConditions(conditions, claims),
  }
}

/** Issuers and audiences are compared as they are: an asterisk has no meaning. */
function checkText(claim: string, expected: string, claims: Claims): CheckedCondition {
  const seen = getClaimTexts(claims, claim)
  return { claim, expected: [expected], seen, matches: seen.includes(expected) }
}

function claimsOrNone(token: string): Claims {
  try {
    return decodeClaims(token)
  } catch {
    return {}
  }
}
