import { invalidCode, totpRequired } from '../../errors/sign-in.ts'
import type { Services } from '../../services.ts'
import {
  type Account,
  deleteRecoveryCode,
  findAccount,
  findTotp,
  lockPassword,
  updatePasswordHash,
  updateTotpStep,
} from './account.store.ts'
import { type Guessed, type Guesser, removeGuesses, reserveGuess } from './attempt-limit.ts'
import { hashInTurn, hashPassword, isOutdated, matchPassword } from './password.ts'
import { hashRecoveryCode, openTotpSecret, verifyTotpCode } from './second-factor.ts'
import { type FoundSession, isKnownBrowser } from './session.store.ts'
import { hashSessionToken } from './session.ts'
import { createPasswordFailedError, type Proof } from './sign-in-person.ts'
import type { SignInPlace } from './start-session.ts'

type PasswordProof = {
  email: string
  password: string
  totp_code?: string | undefined
  recovery_code?: string | undefined
}

/**
 * Verifies a password, and the second factor of users who have one. Throws 401 `sign_in_failed`,
 * `totp_required` or `invalid_code`, and 429 `rate_limited`.
 */
export async function authenticateByPassword(
  services: Services,
  given: PasswordProof,
  guesser: Guesser,
): Promise<Proof> {
  const account = await verifyPassword(services, given, guesser)
  await verifySecondFactor(services, account.id, given, guesser)
  return {
    userId: account.id,
    method: 'password',
    settle: (tx) => lockPassword(tx, account.id, account.password_hash),
  }
}

/** Who guesses at a sign-in: a browser that the account knows, or anybody of a network. */
export async function toGuesser({ sql }: Services, email: string, { address, browser }: SignInPlace): Promise<Guesser> {
  const tokenSha256 = hashSessionToken(browser)
  const isKnown = await isKnownBrowser(sql, normalize(email), tokenSha256)
  return { address, known: isKnown ? `browser ${tokenSha256.toString('hex')}` : null }
}

/**
 * A session whose user has signed in at this server is known. An identity provider of one
 * organization could start any number of sessions, to guess as often.
 */
export function getKnownSession({ id, org_id }: FoundSession): string | null {
  return org_id === null ? `session ${id}` : null
}

function normalize(email: string): string {
  return email.trim().toLowerCase()
}

type WithPassword = Account & { password_hash: string }

/** Verifies a password alone. Throws 401 `sign_in_failed` and 429 `rate_limited`. */
export async function verifyPassword(
  services: Services,
  { email, password }: Pick<PasswordProof, 'email' | 'password'>,
  guesser: Guesser,
): Promise<WithPassword> {
  const guessed: Guessed = { kind: 'password', account: normalize(email) }
  const account = await hashInTurn(guesser, async () => {
    await reserveGuess(services, guessed, guesser)
    const found = await findAccount(services.sql, guessed.account)
    const matches = await matchPassword(found?.password_hash ?? null, password)
    if (!matches || !found?.password_hash) throw createPasswordFailedError()
    return found
  })
  await removeGuesses(services, guessed, guesser)
  const password_hash = await renewHash(services, account as WithPassword, password)
  return { ...account, password_hash }
}

/** Hashes the password again if the parameters have grown. Returns the present hash. */
async function renewHash({ sql }: Services, account: WithPassword, password: string): Promise<string> {
  const { id, password_hash } = account
  if (!isOutdated(password_hash)) return password_hash
  const renewed = await hashPassword(password, id)
  await updatePasswordHash(sql, id, password_hash, renewed)
  return renewed
}

type Codes = Pick<PasswordProof, 'totp_code' | 'recovery_code'>

/** A caller who gets `totp_required` knows the password. */
async function verifySecondFactor(services: Services, userId: string, given: Codes, guesser: Guesser) {
  const totp = await findTotp(services.sql, userId)
  if (!totp?.confirmed_at) return
  if (given.totp_code === undefined && given.recovery_code === undefined) throw totpRequired()
  const guessed: Guessed = { kind: 'code', account: userId }
  await reserveGuess(services, guessed, guesser)
  if (!(await useCode(services, userId, totp.sealed_secret, given))) throw invalidCode()
  await removeGuesses(services, guessed, guesser)
}

/** Uses a code up. Of parallel requests with the same code, one succeeds. */
async function useCode(services: Services, userId: string, sealedSecret: string, codes: Codes): Promise<boolean> {
  const { sql, clock, sealingKey } = services
  const { totp_code, recovery_code } = codes
  if (totp_code === undefined) return deleteRecoveryCode(sql, userId, hashRecoveryCode(recovery_code ?? ''))
  const step = verifyTotpCode(openTotpSecret(sealingKey, userId, sealedSecret), totp_code, clock.now())
  return step !== null && (await updateTotpStep(sql, userId, step))
}
