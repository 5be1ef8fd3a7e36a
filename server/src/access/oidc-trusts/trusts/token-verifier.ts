import { createHash } from 'node:crypto'
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, type LocalJWKSet } from 'jose'
import type { Config } from '../../../config.ts'
import { GatewayRejection } from '../../../platform/http/api-error.ts'
import { truncate } from '../../../platform/text.ts'
import type { Services } from '../../../services.ts'
import { AccessCache } from '../../access-cache.ts'
import { type Claims, getClaimText, getClaimTexts } from '../claims.ts'
import { type Condition, matchConditions, toConditions } from '../conditions.ts'
import { isIssuer } from '../issuer.ts'
import { IssuerError, IssuerKeySets } from './issuer-keys.ts'
import { type LiveTrust, listLiveTrusts } from './trust.store.ts'
import { formatOwnAudience } from './trust-request.ts'

const ALGORITHMS = ['RS256', 'ES256', 'PS256']
/** Node accepts 16 KiB of headers in all. */
export const TOKEN_CHARS_MAX = 16_384
const SHOWN_CHARS_MAX = 100
/** What a trust can have (`trust-request.ts`), and how many of them a token may name. */
const AUDIENCE_CHARS_MAX = 500
const AUDIENCES_MAX = 10

/** A token that a trust accepts. */
type VerifiedToken = { trust: LiveTrust; claims: Claims; validUntil: Date }

type MatchableTrust = { trust: LiveTrust; conditions: Condition[] }

type Needs = Pick<Services, 'sql' | 'clock' | 'log' | 'outbound'> & { config: Pick<Config, 'baseUrl'> }

/** Verifies tokens of CI jobs against the trusts of all organizations (ci-identity.md §1). */
export class TokenVerifier {
  /** The live trusts by issuer and audiences. */
  readonly trusts: AccessCache<MatchableTrust[]>
  readonly #services: Needs
  readonly #origin: string
  readonly #keySets: IssuerKeySets

  constructor(services: Needs) {
    this.#services = services
    this.#origin = new URL(services.config.baseUrl).origin
    this.#keySets = new IssuerKeySets(services)
    this.trusts = new AccessCache(services.clock)
  }

  /**
   * Finds the trust that accepts a token. Throws `TokenRejection`. Nothing is fetched for an issuer
   * and an audience without a live trust, or for a token of a form that no issuer signs. With
   * `orgId`, the question is whether that organization accepts it, and the reason says nothing of
   * others.
   */
  async verify(token: string, orgId: string | null = null): Promise<VerifiedToken> {
    const { issuer, audiences } = parseTarget(token)
    const meant = await this.#trustsOf(issuer, audiences)
    if (selectOwn(meant, orgId).length === 0)
      throw invalid(`No trust has the issuer ${shown(issuer)} and the audience ${shown(audiences.join(', '))}.`)
    const claims = await this.#verifySignature(token, issuer)
    const now = this.#services.clock.now()
    const validUntil = checkTokenTimes(claims, now)
    if (validUntil <= now) throw new TokenRejection('expired', 'The token has expired.')
    const matching = meant.filter(({ conditions }) => matchConditions(conditions, claims))
    return { trust: this.#selectTrust(matching, orgId), claims, validUntil }
  }

  async #trustsOf(issuer: string, audiences: readonly string[]): Promise<MatchableTrust[]> {
    const now = this.#services.clock.now()
    const target = { issuer, audiences, origin: this.#origin }
    const trusts = await this.trusts.find(hashTarget(target), async () => {
      const live = await listLiveTrusts(this.#services.sql, target, now)
      return live.map((trust) => ({ trust, conditions: toConditions(trust.conditions) }))
    })
    return trusts.filter(({ trust }) => trust.expires_at === null || trust.expires_at > now)
  }

  /**
   * The trust that counts: one whose audience names its organization, before all others; then the
   * one with most conditions, then the oldest. Where the audience names no organization, trusts of
   * two organizations that match are refused, because it is not known whose job it is.
   */
  #selectTrust(matching: readonly MatchableTrust[], orgId: string | null): LiveTrust {
    const naming = matching.filter(({ trust }) => this.#isNaming(trust))
    const counting = naming.length > 0 ? naming : matching
    const [first] = selectOwn(counting, orgId).toSorted((a, b) => b.conditions.length - a.conditions.length)
    if (first === undefined) throw unmatched('No trust has conditions that all hold for the token.')
    const { audience, organization } = first.trust
    if (counting.every(({ trust }) => trust.organization.id === organization.id)) return first.trust
    const ids = orgId === null ? `: ${counting.map(({ trust }) => trust.id).join(', ')}` : ''
    const own = formatOwnAudience(this.#origin, organization.slug)
    const advice = orgId === null ? '' : ` Create a trust with the audience ${own}, and request tokens for it.`
    throw invalid(`The audience ${shown(audience)} does not say which organization the job is for${ids}.${advice}`)
  }

  #isNaming({ audience, organization }: LiveTrust): boolean {
    return audience === formatOwnAudience(this.#origin, organization.slug)
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

/** The trusts of one organization, or all (null). */
function selectOwn(trusts: readonly MatchableTrust[], orgId: string | null): readonly MatchableTrust[] {
  return orgId === null ? trusts : trusts.filter(({ trust }) => trust.organization.id === orgId)
}

/** Strangers choose these texts, so the cache has no long ones. */
function hashTarget({ issuer, audiences }: { issuer: string; audiences: readonly string[] }): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, audiences]))
    .digest('base64')
}

/** The issuer and the audiences that a token names, before anything is verified. */
function parseTarget(token: string): { issuer: string; audiences: string[] } {
  if (token.length > TOKEN_CHARS_MAX) throw invalid(`The token has more than ${TOKEN_CHARS_MAX} characters.`)
  const { alg, crit } = readPart(() => decodeProtectedHeader(token))
  if (!ALGORITHMS.includes(String(alg))) throw invalid(`The algorithm ${shown(String(alg))} is not accepted.`)
  if (crit !== undefined) throw invalid('Critical headers are not accepted.')
  const claims = decodeClaims(token)
  const issuer = getClaimText(claims, 'iss')
  if (issuer === null || !isIssuer(issuer)) throw invalid('The claim iss is not an issuer.')
  const audiences = getClaimTexts(claims, 'aud')
  if (audiences.length > AUDIENCES_MAX) throw invalid(`The token has more than ${AUDIENCES_MAX} audiences.`)
  return { issuer, audiences: audiences.filter((text) => text.length <= AUDIENCE_CHARS_MAX) }
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

function shown(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARS_MAX))
}

function invalid(details: string): TokenRejection {
  return new TokenRejection('invalid', details)
}

function unmatched(details: string): TokenRejection {
  return new TokenRejection('unmatched', details)
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
