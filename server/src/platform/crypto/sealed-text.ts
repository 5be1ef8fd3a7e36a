import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
/** The first part of a sealed text. Another cipher or key gets another version. */
const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a secret that is stored in the database (AES-256-GCM). `label` names the row that the
 * secret belongs to: a sealed text that is copied to another row cannot be opened.
 */
export function sealText(key: KeyObject, label: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(label))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `${VERSION}.${Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString('base64url')}`
}

/**
 * Decrypts a sealed text. Throws if it was changed, or sealed with another key or label. The
 * message contains nothing of it.
 */
export function openSealedText(key: KeyObject, label: string, sealed: string): string {
  const [version, encoded] = sealed.split('.')
  const bytes = Buffer.from(encoded ?? '', 'base64url')
  if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealError(label)
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(label)).setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    throw new SealError(label)
  }
}

export class SealError extends Error {
  constructor(label: string) {
    super(`The stored secret "${label}" cannot be decrypted. It was stored with another SHIPLOCK_SECRET_KEY.`)
  }
}
