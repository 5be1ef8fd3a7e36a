import { hash, type KeyObject, randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { openSealedText, sealText } from '../../platform/crypto/sealed-text.ts'

const ISSUER = 'Shiplock'
/** The values that all authenticator apps support (RFC 6238). */
const FORM = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Codes of the time step before and after the present one are accepted, too. */
const WINDOW_STEPS = 1
const SECRET_BYTES = 20

/** A new secret in base32. */
export function createTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32
}

/** The address that authenticator apps read from a QR code (`otpauth://`). */
export function formatTotpUri(secret: string, email: string): string {
  return new TOTP({ ...FORM, issuer: ISSUER, label: email, secret }).toString()
}

/** The time step that a code belongs to, or null if the code is wrong. */
export function verifyTotpCode(secret: string, code: string, now: Date): number | null {
  const timestamp = now.getTime()
  const token = code.replaceAll(/\s/g, '')
  if (!/^[0-9]{6}$/.test(token)) return null
  const delta = new TOTP({ ...FORM, secret }).validate({ token, timestamp, window: WINDOW_STEPS })
  return delta === null ? null : TOTP.counter({ period: FORM.period, timestamp }) + delta
}

export function sealTotpSecret(key: KeyObject, userId: string, secret: string): string {
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
