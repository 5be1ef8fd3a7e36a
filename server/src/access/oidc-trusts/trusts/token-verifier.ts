import { compactVerify, decodeJwt, decodeProtectedHeader, errors, type LocalJWKSet } from 'jose'
import { GatewayRejection } from '../../../platform/http/api-error.ts'
import { truncate } from '../../../platform/text.ts'
import type { Services } from '../../../services.ts'
import { AccessCache } from '../../access-cache.ts'
import { type Claims, getClaimText, getClaimTexts } from '../claims.ts'
import { type Condition, matchConditions, toConditions } from '../conditions.ts'
import { isIssuer } from '../issuer.ts'
import { IssuerError, IssuerKeySets } from './issuer-keys.ts'
import { type LiveTrust, listLiveTrusts } from './trust.store.ts'

const ALGORITHMS = ['RS256', 'ES256', 'PS256']
/** Node accepts 16 KiB of headers in all. */
export const TOKEN_CHARS_MAX = 16_384
const SHOWN_CHARS_MAX = 100

/** A token that a trust accepts. */
type VerifiedToken = { trust: LiveTrust; claims: Claims; validUntil: Date }

type MatchableTrust = { trust: LiveTrust; conditions: Condition[] }

/** Verifies tokens of CI jobs against the trusts of all organizations (ci-identity.md §1). */
export class TokenVerifier {
  /** The live trusts by issuer. */
  readonly trusts: AccessCache<MatchableTrust[]>
  readonly #services: Pick<Services, 'sql' | 'clock' | 'log' | 'outbound'>
  readonly #keySets: IssuerKeySets

  constructor(services: Pick<Services, 'sql' | 'clock' | 'log' | 'outbound'>) {
    this.#services = services
    this.#keySets = new IssuerKeySets(services)
    this.trusts = new AccessCache(services.clock)
  }

  /**
   * Finds the trust that accepts a token. Throws `TokenRejection`. Nothing is fetched for an issuer
   * without a live trust, or for a token of a form that no issuer signs.
   */
  async verify(token: string): Promise<VerifiedToken> {
    const issuer = parseIssuer(token)
    const trusts = await this.#trustsOf(issuer)
    if (trusts.length === 0) throw invalid(`No trust has the issuer ${shown(issuer)}.`)
    const claims = await this.#verifySignature(token, issuer)
    const now = this.#services.clock.now()
    const validUntil = checkTokenTimes(claims, now)
    const audiences = getClaimTexts(claims, 'aud')
    const meant = trusts.filter(({ trust }) => audiences.includes(trust.audience))
    if (meant.length === 0) throw invalid(`No trust has the audience ${shown(audiences.join(', '))}.`)
    if (validUntil <= now) throw new TokenRejection('expired', 'The token has expired.')
    return {
      trust: mostSpecific(meant.filter(({ conditions }) => matchConditions(conditions, claims))),
      claims,
      validUntil,
    }
  }

  async #trustsOf(issuer: string): Promise<MatchableTrust[]> {
    const now = this.#services.clock.now()
    const trusts = await this.trusts.find(issuer, async () => {
      const live = await listLiveTrusts(this.#services.sql, issuer, now)
      return live.map((trust) => ({ trust, conditions: toConditions(trust.conditions) }))
    })
    return trusts.filter(({ trust }) => trust.expires_at === null || trust.expires_at > now)
  }

  /** Returns the claims of a token with a valid signature. */
  async #verifySignature(token: string, issuer: string): Promise<Claims> {
    const keys = this.#keySets.of(issuer)
    const since = keys.readings
    try {
      return await verifyClaims(token, await keys.current()).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
        const newer = await keys.afterUnknownKey(since)
        if (newer === null) throw error
        return verifyClaims(token, newer)
      })
    } catch (error) {
      if (error instanceof TokenRejection) throw error
      if (error instanceof IssuerError) throw invalid(error.message)
      throw invalid(`The signature cannot be verified: ${error instanceof Error ? error.message : String(error)}.`)
    }
  }
}

/** The issuer that a token names, before anything is verified. */
function parseIssuer(token: string): string {
  if (token.length > TOKEN_CHARS_MAX) throw invalid(`The token has more than ${TOKEN_CHARS_MAX} characters.`)
  const { alg, crit } = readPart(() => decodeProtectedHeader(token))
  if (!ALGORITHMS.includes(String(alg))) throw invalid(`The algorithm ${shown(String(alg))} is not accepted.`)
  if (crit !== undefined) throw invalid('Critical headers are not accepted.')
  const issuer = getClaimText(decodeClaims(token), 'iss')
  if (issuer !== null && isIssuer(issuer)) return issuer
  throw invalid('The claim iss is not an issuer.')
}

/** The claims of a token that need not be valid. Throws `TokenRejection` if it is not a JWT. */
export function decodeClaims(token: string): Claims {
  return readPart(() => decodeJwt(token))
}

function readPart<Part>(read: () => Part): Part {
  try {
    return read()
  } catch {
    throw invalid('The token is not a signed JWT.')
  }
}

async function verifyClaims(token: string, keys: LocalJWKSet): Promise<Claims> {
  await compactVerify(token, keys, { algorithms: ALGORITHMS })
  return decodeClaims(token)
}

/**
 * The trust that counts: the one with most conditions, then the oldest. Trusts of two organizations
 * that match the same token are refused, because it is not known whose job it is.
 */
function mostSpecific(matching: readonly MatchableTrust[]): LiveTrust {
  const organizations = new Set(matching.map(({ trust }) => trust.organization.id))
  if (organizations.size > 1) {
    // The ids only: `trust test` shows this to people of one of the organizations.
    const ids = matching.map(({ trust }) => trust.id)
    throw invalid(`Trusts of several organizations match: ${ids.join(', ')}.`)
  }
  const [first] = matching.toSorted((a, b) => b.conditions.length - a.conditions.length)
  if (first === undefined) throw new TokenRejection('unmatched', 'No trust has conditions that all hold for the token.')
  return first.trust
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARS_MAX))
}

function invalid(details: string): TokenRejection {
  return new TokenRejection('invalid', details)
}

/**
 * Why a token is rejected: it is good but for its expiry, it is not good, or it is good and no
 * trust has conditions that it satisfies.
 */
export type RejectionReason = 'expired' | 'invalid' | 'unmatched'

/** Details can contain a part of the token, of any length and with control characters. */
const DETAILS_CHARS_MAX = 400

/**
 * A rejected token. The caller gets the 401 of every rejection, without the details: they are for
 * the log and for `trust test`.
 */
export class TokenRejection extends GatewayRejection {
  readonly reason: RejectionReason
  readonly details: string

  constructor(reason: RejectionReason, details: string) {
    super(401)
    this.reason = reason
    this.details = truncate(details.replaceAll(/\p{Cc}/gu, '?'), DETAILS_CHARS_MAX)
  }
}

const LEEWAY_SECONDS = 60
const LIFETIME_SECONDS_MAX = 24 * 3600

/**
 * Checks the times of a token (RFC 7519 §4.1) with 60 s of leeway. Returns when it stops being
 * valid. Throws `TokenRejection`; `expired` only if nothing else is wrong with the times.
 */
function checkTokenTimes(claims: Claims, now: Date): Date {
  const seconds = now.getTime() / 1000
  const [expiresAt, issuedAt] = [requireTime(claims, 'exp'), requireTime(claims, 'iat')]
  const notBefore = claims.nbf === undefined ? issuedAt : requireTime(claims, 'nbf')
  if (issuedAt > seconds + LEEWAY_SECONDS) throw invalid('iat is in the future.')
  if (notBefore > seconds + LEEWAY_SECONDS) throw invalid('The token is not valid yet (nbf).')
  if (expiresAt - issuedAt > LIFETIME_SECONDS_MAX) throw invalid('The token lives longer than 24 hours.')
  return new Date((expiresAt + LEEWAY_SECONDS) * 1000)
}

function requireTime(claims: Claims, name: string): number {
  const value = claims[name]
  if (typeof value === 'number' && Math.abs(value) <= SECONDS_MAX) return value
  throw invalid(`The claim ${name} is not a time.`)
}

/** The latest time of a JavaScript date. */
const SECONDS_MAX = 8_640_000_000_000 - LEEWAY_SECONDS
