import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDirectory, saveOnce, toNullIfMissing } from '../files.ts'

/** A shorter secret could be guessed. */
export const SECRET_KEY_CHARS_MIN = 32

const SECRET_BYTES = 32
const DERIVED_KEY_BYTES = 32
const FILE_NAME = 'secret-key'

/**
 * Loads the secret from which all keys are derived: `configured` if given, otherwise the one in
 * `dataDirectory`, which is generated on first use. Processes that start at the same time get the
 * same one. Throws if the secret is shorter than 32 characters.
 */
export async function loadSecretKey(configured: string | undefined, dataDirectory: string): Promise<KeyObject> {
  return toSecretKey(await readSecretText(configured, dataDirectory))
}

/** The same secret as text, for a backup. */
export async function readSecretText(configured: string | undefined, dataDirectory: string): Promise<string> {
  if (configured !== undefined) return requireLong(configured, 'SHIPLOCK_SECRET_KEY')
  const path = join(dataDirectory, FILE_NAME)
  const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url')
  return requireLong(
    (await toNullIfMissing(readFile(path, 'utf8'))) ?? (await saveSecret(dataDirectory, newSecret())),
    path,
  )
}

/**
 * Derives a key for one purpose (HKDF-SHA256, RFC 5869). It reveals neither the secret nor other
 * keys.
 */
export function computeDerivedKey(secret: KeyObject, purpose: string): KeyObject {
  return takeKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, DERIVED_KEY_BYTES)))
}

/** A key of these bytes. Overwrites them, because the key has its own copy. */
function takeKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}

export function toSecretKey(secret: string): KeyObject {
  return takeKey(Buffer.from(secret))
}

function requireLong(text: string, source: string): string {
  const secret = text.trim()
  if (secret.length >= SECRET_KEY_CHARS_MIN) return secret
  throw new Error(`${source} must have at least ${SECRET_KEY_CHARS_MIN} characters.`)
}

/** Stores a secret in a data directory, unless it has one, and returns the one that it has. */
export async function saveSecret(dataDirectory: string, secret: string): Promise<string> {
  await makeDataDirectory(dataDirectory)
  return saveOnce(join(dataDirectory, FILE_NAME), `${secret}\n`)
}
