import { hash } from 'node:crypto'
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { getNetwork } from '../../platform/http/connection-limits.ts'
import { createRateLimitError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { countAttempt, deleteAttempts, updateReleasedAttempt } from '../rate-limit.store.ts'

/** A limit on failed attempts. Its key contains neither email addresses nor secrets. */
type AttemptLimit = { key: string; max: number; windowMs: number }

/** Failed passwords of one account. Accounts that do not exist have the same limit. */
export function getPasswordLimit(email: string): AttemptLimit {
  return { key: `password:${hash('sha256', email)}`, max: 10, windowMs: 15 * MINUTE_MS }
}

/** Failed codes of one account. They follow the right password, so that few are mistakes. */
export function getCodeLimit(userId: string): AttemptLimit {
  return { key: `code:${userId}`, max: 10, windowMs: HOUR_MS }
}

/** Failed attempts of one address, whichever accounts they are for. */
export function getAddressLimit(address: string | null): AttemptLimit {
  return { key: `address:${getNetwork(address)}`, max: 100, windowMs: 15 * MINUTE_MS }
}

/** Challenges of passkeys for one address. */
export function getChallengeLimit(address: string | null): AttemptLimit {
  return { key: `challenge:${getNetwork(address)}`, max: 600, windowMs: 15 * MINUTE_MS }
}

type Context = Pick<Services, 'sql' | 'clock' | 'log'>

/**
 * Counts an attempt before it is verified, so that parallel guesses cannot exceed the limits.
 * Throws 429 `rate_limited`.
 */
export async function reserveAttempt({ sql, clock, log }: Context, ...limits: AttemptLimit[]): Promise<void> {
  const now = clock.now()
  for (const { key, max, windowMs } of limits) {
    const { attempts, window_started_at } = await countAttempt(sql, key, windowMs, now)
    if (attempts <= max) continue
    if (attempts === max + 1) log.warn({ limit: key }, 'The limit of attempts to sign in is reached')
    const resetAt = new Date(window_started_at.getTime() + windowMs)
    throw createRateLimitError('Too many failed attempts. Try again later.', { limit: max, resetAt, now })
  }
}

/** Takes an attempt of an address back, because it succeeded. */
export async function releaseAttempt({ sql }: Context, { key }: AttemptLimit): Promise<void> {
  await updateReleasedAttempt(sql, key)
}

/** Starts counting from 0, because the owner of the account has succeeded. */
export async function removeAttempts({ sql }: Context, { key }: AttemptLimit): Promise<void> {
  await deleteAttempts(sql, key)
}
