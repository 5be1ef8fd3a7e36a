import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto'
import { openSealedText, SealError, sealText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import { findLogKey, hasRowsWithoutMac, insertCheckpoint, insertLogKey, lockLog, type StoredKey } from './log.store.ts'
import { computeCheckpointMac, formatKeyLabel } from './log-mac.ts'
import { EMPTY_ROOT } from './merkle-tree.ts'

const ED25519 = Buffer.of(1)
const KEY_ID_BYTES = 4
/** The last bytes of the SubjectPublicKeyInfo of an Ed25519 key are the key (RFC 8410 §4). */
const PUBLIC_KEY_BYTES = 32

/**
 * The signing key of the log, and the log's name (c2sp.org/signed-note, c2sp.org/tlog-checkpoint).
 */
export class LogKey {
  readonly origin: string
  /** `<name>+<key id>+<type and key>`, with which others verify the checkpoints. */
  readonly verifierKey: string
  readonly #keyId: Buffer
  readonly #privateKey: KeyObject

  constructor(origin: string, privateKeyPem: string) {
    this.origin = origin
    this.#privateKey = createPrivateKey(privateKeyPem)
    const spki = createPublicKey(this.#privateKey).export({ type: 'spki', format: 'der' })
    const typedKey = Buffer.concat([ED25519, spki.subarray(-PUBLIC_KEY_BYTES)])
    const named = Buffer.concat([Buffer.from(`${origin}\n`), typedKey])
    this.#keyId = hash('sha256', named, 'buffer').subarray(0, KEY_ID_BYTES)
    this.verifierKey = `${origin}+${this.#keyId.toString('hex')}+${typedKey.toString('base64')}`
  }

  /**
   * Returns the checkpoint of a tree as a signed note. Ed25519 is deterministic (RFC 8032 §5.1.6),
   * so two notes of the same tree are equal.
   */
  signCheckpoint(size: number, root: Buffer): string {
    const text = `${this.origin}\n${size}\n${root.toString('base64')}\n`
    const signature = sign(null, Buffer.from(text), this.#privateKey)
    return `${text}\n— ${this.origin} ${Buffer.concat([this.#keyId, signature]).toString('base64')}\n`
  }
}

/** The name of the log at a base URL: the URL of the log without its scheme. */
export function getLogOrigin(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl)
  // A name must not contain a plus.
  return `${host}${pathname.replace(/\/$/, '').replaceAll('+', '%2B')}/log`
}

/** The key of the log. Creates the log on first use. */
export async function openLogKey(services: Services): Promise<LogKey> {
  return (await loadLogKey(services)) ?? (await createLog(services))
}

/** The key of the log, or null if the log does not exist yet. */
export async function loadLogKey({ sql, sealingKey }: Pick<Services, 'sql' | 'sealingKey'>): Promise<LogKey | null> {
  const stored = await findLogKey(sql)
  return stored === null ? null : new LogKey(stored.origin, openPrivateKey(sealingKey, stored))
}

function openPrivateKey(sealingKey: KeyObject, { origin, sealed_private_key }: StoredKey): string {
  try {
    return openSealedText(sealingKey, formatKeyLabel(origin, true), sealed_private_key)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    return openSealedText(sealingKey, formatKeyLabel(origin, false), sealed_private_key)
  }
}

/** Stores a new key and the checkpoint of the empty log, unless another process has done it. */
async function createLog(services: Services): Promise<LogKey> {
  const { sql, config, clock, sealingKey, integrityKey } = services
  const origin = getLogOrigin(config.baseUrl)
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const key = new LogKey(origin, pem)
  await sql.begin(async (tx) => {
    await lockLog(tx)
    if ((await findLogKey(tx)) !== null) return
    const label = formatKeyLabel(origin, !(await hasRowsWithoutMac(tx)))
    await insertLogKey(tx, { origin, sealed_private_key: sealText(sealingKey, label, pem) }, clock.now())
    const note = key.signCheckpoint(0, EMPTY_ROOT)
    const empty = { size: 0, root_hash: EMPTY_ROOT, note, published_at: clock.now() }
    await insertCheckpoint(tx, { ...empty, mac: computeCheckpointMac(integrityKey, empty) })
  })
  return (await loadLogKey(services)) as LogKey
}
