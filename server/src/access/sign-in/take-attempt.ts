import { createRateLimitError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { countAttempt, deleteAttempts, updateReleasedAttempt } from './attempt.store.ts'
import type { AttemptLimit } from './attempt-limit.ts'

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
