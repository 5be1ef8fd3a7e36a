import { createHmac } from 'node:crypto'
import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { getNetwork } from '../../platform/http/connection-limits.ts'
import { createRateLimitError, limitReached } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { deleteAttempts, upsertGuess } from '../rate-limit.store.ts'
import { findUser } from '../user.store.ts'

/** Where a guess comes from. */
export type Guesser = {
  address: string | null
  /** The browser or the session, if the account knows it. Failures of others do not limit it. */
  known: string | null
}

/** What is guessed: the password of an email address, or the codes of a user. */
export type Guessed = { kind: 'password' | 'code'; account: string }

/** Wrong guesses in a row: of an account by all whom it does not know, and by each that it does. */
const WRONG_IN_A_ROW_MAX = 100
/** The pause in seconds after each failure of one guesser, from the first. */
const PAUSES = [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300]

type Needs = Pick<Services, 'sql' | 'clock' | 'log' | 'addressKey'>

/**
 * Counts a guess before it is verified, so that parallel ones cannot exceed the limits. Accounts
 * that do not exist have the same limits. Throws 429 `rate_limited`.
 */
export async function reserveGuess(services: Needs, guessed: Guessed, guesser: Guesser): Promise<void> {
  const { sql, clock, log } = services
  const now = clock.now()
  const { pause, count } = getKeys(services, guessed, guesser)
  const { blocked_until } = await upsertGuess(sql, pause, PAUSES, now)
  if (blocked_until !== null) {
    const limit = PAUSES.filter((seconds) => seconds === 0).length + 1
    throw createRateLimitError('Too many failed attempts. Wait before the next one.', {
      limit,
      resetAt: blocked_until,
      now,
    })
  }
  const { attempts } = await upsertGuess(sql, count, [], now)
  if (attempts <= WRONG_IN_A_ROW_MAX) return
  if (attempts === WRONG_IN_A_ROW_MAX + 1) log.warn({ limit: count }, 'The limit of wrong guesses in a row is reached')
  throw createExhaustedError()
}

function createExhaustedError() {
  const message =
    'Too many wrong attempts in a row. Sign in with a passkey or in a browser that you have used before, or ' +
    'ask the operator of the server for a link (`user reset`).'
  const details = { limit: WRONG_IN_A_ROW_MAX, resetAt: null, reason: 'WRONG_IN_A_ROW' }
  return limitReached(message, details).retryAfter(DAY_MS / 1000)
}

/** Starts counting from 0, because the owner of the account has succeeded. */
export async function removeGuesses(services: Needs, guessed: Guessed, guesser: Guesser): Promise<void> {
  const { pause, count } = getKeys(services, guessed, guesser)
  await deleteAttempts(services.sql, [pause, count, getCountKey(services, guessed, null)])
}

/** Lets everybody guess again, because the owner of the account has signed in another way. */
export async function removeAccountGuesses(keys: Pick<Services, 'addressKey'>, db: Db, userId: string): Promise<void> {
  const user = await findUser(db, userId)
  const ofPassword = getCountKey(keys, { kind: 'password', account: user?.email ?? '' }, null)
  const ofCodes = getCountKey(keys, { kind: 'code', account: userId }, null)
  await deleteAttempts(db, [ofPassword, ofCodes])
}

function getKeys(keys: Pick<Services, 'addressKey'>, guessed: Guessed, { address, known }: Guesser) {
  const from = known ?? getNetwork(address)
  return {
    pause: `pause:${computeKey(keys, [guessed.kind, guessed.account, from])}`,
    count: getCountKey(keys, guessed, known),
  }
}

function getCountKey(keys: Pick<Services, 'addressKey'>, { kind, account }: Guessed, known: string | null): string {
  return `count:${computeKey(keys, [kind, account, known])}`
}

/** Neither the table nor the log tells an address, not even to those who try all of them. */
function computeKey({ addressKey }: Pick<Services, 'addressKey'>, parts: (string | null)[]): string {
  return createHmac('sha256', addressKey).update(JSON.stringify(parts)).digest('base64url')
}
