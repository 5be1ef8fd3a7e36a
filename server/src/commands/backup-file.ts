import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { UsageError } from '@shiplock/command-line/options'
import { decrypt, isEncrypted, type Lock } from '../backup/age.ts'

/** Standard output or input instead of a file. */
export const STANDARD = '-'

export const lockOptions = {
  'encrypt-to': { type: 'list', value: 'RECIPIENT', about: 'encrypt for the holder of this key of age (age1…)' },
  'passphrase-file': { type: 'text', value: 'FILE', about: 'encrypt with the passphrase in this file' },
} as const

export const unlockOptions = {
  identity: { type: 'list', value: 'FILE', about: 'a file with keys of age that decrypt the backup' },
  'passphrase-file': { type: 'text', value: 'FILE', about: 'a file with the passphrase of the backup' },
} as const

type Unlocking = { identity: string[]; 'passphrase-file': string | undefined }

/** How the backup is to be encrypted; null: not at all. */
export async function readLock(given: {
  'encrypt-to': string[]
  'passphrase-file': string | undefined
}): Promise<Lock | null> {
  const { 'encrypt-to': recipients, 'passphrase-file': file } = given
  if (file !== undefined && recipients.length > 0)
    throw new UsageError('Give either --encrypt-to or --passphrase-file, not both')
  if (file !== undefined) return { passphrase: await readPassphrase(file) }
  return recipients.length > 0 ? { recipients } : null
}

/** The bytes of a backup, decrypted if it is encrypted. */
export async function openBackupFile(path: string, given: Unlocking): Promise<AsyncIterable<Uint8Array>> {
  const { start, bytes } = await peek(path === STANDARD ? process.stdin : createReadStream(path))
  if (!isEncrypted(start)) return bytes
  const file = given['passphrase-file']
  const identities = await Promise.all(given.identity.map(readIdentities))
  return decrypt(bytes, {
    identities: identities.flat(),
    passphrase: file === undefined ? null : await readPassphrase(file),
  })
}

/** Reads the first bytes, and returns them with an iterable of all. */
async function peek(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ start: Uint8Array; bytes: AsyncIterable<Uint8Array> }> {
  const reading = stream[Symbol.asyncIterator]()
  const first = await reading.next()
  const start = first.done ? new Uint8Array() : first.value
  const all = async function* () {
    if (start.length > 0) yield start
    yield* { [Symbol.asyncIterator]: () => reading }
  }
  return { start, bytes: all() }
}

async function readPassphrase(path: string): Promise<string> {
  const passphrase = (await readFile(path, 'utf8')).replace(/\r?\n$/, '')
  if (passphrase === '') throw new Error(`${path} is empty; it must contain the passphrase`)
  return passphrase
}

/** A key file of age: one key a line, and comments. */
async function readIdentities(path: string): Promise<string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (keys.length === 0) throw new Error(`${path} contains no key of age`)
  return keys
}
