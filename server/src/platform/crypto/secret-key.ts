import { createSecretKey, hkdfSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDirectory, synchronizeDirectory } from '../files.ts'

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
  return requireLong((await readIfThere(path)) ?? (await saveSecret(dataDirectory, newSecret())), path)
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

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Stores a secret in a data directory, unless it has one, and returns the one that it has. Writes
 * the complete file before it gets its name: a second process finds the name taken and reads it.
 */
export async function saveSecret(dataDirectory: string, secret: string): Promise<string> {
  const path = join(dataDirectory, FILE_NAME)
  await makeDataDirectory(dataDirectory)
  const temporary = join(dataDirectory, `.${FILE_NAME}-${randomUUID()}`)
  try {
    await writeDurably(temporary, `${secret}\n`)
    await linkUnlessTaken(temporary, path)
    await synchronizeDirectory(dataDirectory)
    return await readFile(path, 'utf8')
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  await file.writeFile(text)
  await file.sync()
}

async function linkUnlessTaken(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
