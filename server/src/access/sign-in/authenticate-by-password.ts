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
import {
  getAddressLimit,
  getCodeLimit,
  getPasswordLimit,
  releaseAttempt,
  removeAttempts,
  reserveAttempt,
} from './attempt-limit.ts'
import { hashPassword, isOutdated, matchPassword } from './password.ts'
import { hashRecoveryCode, openTotpSecret, verifyTotpCode } from './second-factor.ts'
import { createPasswordFailedError, type Proof } from './sign-in-person.ts'

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
  address: string | null,
): Promise<Proof> {
  const account = await verifyPassword(services, given, address)
  await verifySecondFactor(services, account.id, given, address)
  return {
    userId: account.id,
    method: 'password',
    settle: (tx) => lockPassword(tx, account.id, account.password_hash),
  }
}

type WithPassword = Account & { password_hash: string }

/** Verifies a password alone. Throws 401 `sign_in_failed` and 429 `rate_limited`. */
export async function verifyPassword(
  services: Services,
  { email, password }: Pick<PasswordProof, 'email' | 'password'>,
  address: string | null,
): Promise<WithPassword> {
  const known = email.trim().toLowerCase()
  const [ofAddress, ofAccount] = [getAddressLimit(address), getPasswordLimit(known)]
  await reserveAttempt(services, ofAddress, ofAccount)
  const account = await findAccount(services.sql, known)
  const matches = await matchPassword(account?.password_hash ?? null, password)
  if (!matches || !account?.password_hash) throw createPasswordFailedError()
  await releaseAttempt(services, ofAddress)
  await removeAttempts(services, ofAccount)
  const password_hash = await renewHash(services, account as WithPassword, password)
  return { ...account, password_hash }
}

/** Hashes the password again if the parameters have grown. Returns the present hash. */
async function renewHash({ sql }: Services, account: WithPassword, password: string): Promise<string> {
  const { id, password_hash } = account
  if (!isOutdated(password_hash)) return password_hash
  const renewed = await hashPassword(password)
  await updatePasswordHash(sql, id, password_hash, renewed)
  return renewed
}

type Codes = Pick<PasswordProof, 'totp_code' | 'recovery_code'>

/** A caller who gets `totp_required` knows the password. */
async function verifySecondFactor(services: Services, userId: string, given: Codes, address: string | null) {
  const totp = await findTotp(services.sql, userId)
  if (!totp?.confirmed_at) return
  if (given.totp_code === undefined && given.recovery_code === undefined) throw totpRequired()
  const [ofAddress, ofAccount] = [getAddressLimit(address), getCodeLimit(userId)]
  await reserveAttempt(services, ofAddress, ofAccount)
  if (!(await useCode(services, userId, totp.sealed_secret, given))) throw invalidCode()
  await releaseAttempt(services, ofAddress)
  await removeAttempts(services, ofAccount)
}

/** Uses a code up. Of parallel requests with the same code, one succeeds. */
async function useCode(services: Services, userId: string, sealedSecret: string, codes: Codes): Promise<boolean> {
  const { sql, clock, sealingKey } = services
  const { totp_code, recovery_code } = codes
  if (totp_code === undefined) return deleteRecoveryCode(sql, userId, hashRecoveryCode(recovery_code ?? ''))
  const step = verifyTotpCode(openTotpSecret(sealingKey, userId, sealedSecret), totp_code, clock.now())
  return step !== null && (await updateTotpStep(sql, userId, step))
}
