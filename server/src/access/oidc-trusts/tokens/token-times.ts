import type { Claims } from '../claims.ts'
import { TokenRejection } from './token-rejection.ts'

const LEEWAY_SECONDS = 60
const LIFETIME_SECONDS_MAX = 24 * 3600

/**
 * Checks the times of a token (RFC 7519 §4.1) with 60 s of leeway. Returns when it stops being
 * valid. Throws `TokenRejection`; `expired` only if nothing else is wrong with the times.
 */
export function checkTokenTimes(claims: Claims, now: Date): Date {
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

function invalid(details: string): TokenRejection {
  return new TokenRejection('invalid', details)
}
