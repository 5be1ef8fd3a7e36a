import { hash, type KeyObject, randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { invalidCode, totpEnabled, totpNotEnabled, totpNotStarted } from '../../errors/sign-in.ts'
import { openSealedText, sealText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../user.ts'
import {
  deleteTotp,
  findTotp,
  insertTotp,
  lockUser,
  updateRecoveryCodes,
  updateTotpConfirmed,
} from './account.store.ts'
import { removeGuesses, reserveGuess } from './attempt-limit.ts'
import { type FoundSession, updateSessionEnds } from './session.store.ts'

const ISSUER = 'Shiplock'
/** The values that all authenticator apps support (RFC 6238). */
const FORM = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Codes of the time step before and after the present one are accepted, too. */
const WINDOW_STEPS = 1
const SECRET_BYTES = 20

/** The time step that a code belongs to, or null if the code is wrong. */
export function verifyTotpCode(secret: string, code: string, now: Date): number | null {
  const timestamp = now.getTime()
  const token = code.replaceAll(/\s/g, '')
  if (!/^[0-9]{6}$/.test(token)) return null
  const delta = new TOTP({ ...FORM, secret }).validate({ token, timestamp, window: WINDOW_STEPS })
  return delta === null ? null : TOTP.counter({ period: FORM.period, timestamp }) + delta
}

function sealTotpSecret(key: KeyObject, userId: string, secret: string): string {
  return sealText(key, `TOTP secret of user ${userId}`, secret)
}

export function openTotpSecret(key: KeyObject, userId: string, sealed: string): string {
  return openSealedText(key, `TOTP secret of user ${userId}`, sealed)
}

const RECOVERY_CODES = 10
const RECOVERY_CHARS = 16
/** Base32 of Crockford, without letters that look like digits: 80 bits in 16 characters. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** New recovery codes, such as `7k3m-9x2p-4hqt-w8zn`. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const chars = Array.from({ length: RECOVERY_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
    return chars.replaceAll(/(.{4})(?=.)/g, '$1-')
  })
}

/** The hash that is stored. Spaces, hyphens and case do not count. */
export function hashRecoveryCode(code: string): Buffer {
  return hash('sha256', code.toLowerCase().replaceAll(/[\s-]/g, ''), 'buffer')
}

/** A user, by their session. */
type Owner = Pick<FoundSession, 'id' | 'user_id' | 'email' | 'name'>

/** Starts an enrolment. TOTP is on after `confirmEnrolment`. Throws 409 `totp_enabled`. */
export async function startEnrolment({ sql, clock, sealingKey }: Services, { user_id, email }: Owner) {
  const secret = new Secret({ size: SECRET_BYTES }).base32
  const isStarted = await insertTotp(sql, user_id, sealTotpSecret(sealingKey, user_id, secret), clock.now())
  if (!isStarted) throw totpEnabled()
  // Authenticator apps read this address (`otpauth://`) from a QR code.
  const uri = new TOTP({ ...FORM, issuer: ISSUER, label: email, secret }).toString()
  return { secret, uri }
}

/**
 * Turns TOTP on, with a code of the enrolled app. Returns the recovery codes. Throws 409
 * `totp_not_started`, 401 `invalid_code` and 429 `rate_limited`.
 */
export async function confirmEnrolment(
  services: Services,
  { id, user_id }: Owner,
  { code, address }: { code: string; address: string },
): Promise<string[]> {
  const { sql, clock, sealingKey } = services
  const totp = await findTotp(sql, user_id)
  if (!totp || totp.confirmed_at) throw totpNotStarted()
  const guess = [
    { kind: 'code', account: user_id },
    { address, known: `session ${id}` },
  ] as const
  await reserveGuess(services, ...guess)
  const now = clock.now()
  const step = verifyTotpCode(openTotpSecret(sealingKey, user_id, totp.sealed_secret), code, now)
  if (step === null) throw invalidCode()
  await removeGuesses(services, ...guess)
  return sql.begin(async (tx) => {
    if (!(await updateTotpConfirmed(tx, user_id, { ...totp, step }, now))) throw totpNotStarted()
    await audit(tx, user_id, 'totp.enable', now)
    return storeRecoveryCodes(tx, user_id, now)
  })
}

/** Turns TOTP off and ends all other sessions. Throws 409 `totp_not_enabled`. */
export async function removeTotp({ sql, clock }: Services, { id, user_id }: Owner): Promise<void> {
  const now = clock.now()
  await sql.begin(async (tx) => {
    await lockUser(tx, user_id)
    if (!(await deleteTotp(tx, user_id))) throw totpNotEnabled()
    await updateSessionEnds(tx, { user_id }, id, now)
    await audit(tx, user_id, 'totp.disable', now)
  })
}

/** Replaces the recovery codes. Throws 409 `totp_not_enabled`. */
export async function rotateRecoveryCodes({ sql, clock }: Services, { user_id }: Owner): Promise<string[]> {
  const now = clock.now()
  return sql.begin(async (tx) => {
    await lockUser(tx, user_id)
    const totp = await findTotp(tx, user_id)
    if (!totp?.confirmed_at) throw totpNotEnabled()
    await audit(tx, user_id, 'recovery_codes.create', now)
    return storeRecoveryCodes(tx, user_id, now)
  })
}

type Transaction = Parameters<typeof auditPerson>[0]

async function storeRecoveryCodes(tx: Transaction, userId: string, now: Date): Promise<string[]> {
  const codes = createRecoveryCodes()
  await updateRecoveryCodes(tx, userId, codes.map(hashRecoveryCode), now)
  return codes
}

function audit(tx: Transaction, userId: string, action: string, now: Date): Promise<void> {
  return auditPerson(tx, { user_id: userId }, { action, object: { type: 'user', id: userId } }, now)
}
