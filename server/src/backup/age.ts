import { Readable } from 'node:stream'
import { Decrypter, Encrypter } from 'age-encryption'
import { ArchiveError } from './archive.ts'

/** How a file is encrypted: for the holders of keys (`age1…`), or with a passphrase. */
export type Lock = { recipients: readonly string[] } | { passphrase: string }

/** What can open an encrypted file. */
export type Unlocking = { identities: readonly string[]; passphrase: string | null }

/** The first line of an encrypted file (age specification, "Header"). */
const AGE_HEADER = Buffer.from('age-encryption.org/v1\n')

export function isEncrypted(start: Uint8Array): boolean {
  return Buffer.from(start).subarray(0, AGE_HEADER.length).equals(AGE_HEADER)
}

/**
 * Encrypts in the format of age (https://age-encryption.org/v1), which its own program reads, too.
 * Throws for a recipient that is not one.
 */
export async function encrypt(content: AsyncIterable<Uint8Array>, lock: Lock): Promise<AsyncIterable<Uint8Array>> {
  const encrypter = new Encrypter()
  if ('passphrase' in lock) encrypter.setPassphrase(lock.passphrase)
  else for (const recipient of lock.recipients) addTo(encrypter, recipient)
  return encrypter.encrypt(toWeb(content))
}

function addTo(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient)
  } catch {
    throw new Error(`${recipient} is not a recipient of age; one starts with age1`)
  }
}

/** Decrypts. Throws `ArchiveError` if nothing given opens the file. */
export async function decrypt(
  content: AsyncIterable<Uint8Array>,
  given: Unlocking,
): Promise<AsyncIterable<Uint8Array>> {
  if (given.identities.length === 0 && given.passphrase === null)
    throw new ArchiveError('The file is encrypted; give --identity or --passphrase-file')
  const decrypter = new Decrypter()
  if (given.passphrase !== null) decrypter.addPassphrase(given.passphrase)
  for (const identity of given.identities) decrypter.addIdentity(identity)
  return decrypter.decrypt(toWeb(content)).catch((cause) => {
    throw new ArchiveError(`The file cannot be decrypted with what was given (${cause.message})`, { cause })
  })
}

function toWeb(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(content, { objectMode: false })) as ReadableStream<Uint8Array>
}
