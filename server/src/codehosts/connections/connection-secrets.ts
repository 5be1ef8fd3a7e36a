import { type KeyObject, randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { openSealedText, sealText } from '../../platform/crypto/sealed-text.ts'
import type { Db, Sql, Tx } from '../../platform/db/sql.ts'
import type { HostCredentials } from '../code-host.ts'
import { type ConnectionName, findSealedSecrets, updateSealedSecrets } from './connection.store.ts'

/** What a connection to an account keeps. */
type ConnectionSecrets = {
  credentials: HostCredentials
  /** Proves that a webhook of the connection comes from the host. */
  webhook_secret: string
}

type Options = { sql: Sql; clock: Clock; sealingKey: KeyObject }

/** How soon a process notices what another one has stored. */
const CACHED_MS = 5_000
const CACHED_MAX = 1_000
const WEBHOOK_SECRET_BYTES = 32

/** The secrets of the connections that have credentials of their own. They are stored sealed. */
export class SecretsOfConnections {
  readonly #options: Options
  readonly #cached = new Map<string, { secrets: ConnectionSecrets | null; until: number }>()

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Null if the connection has no credentials. Throws `SealError` if the secret key has changed.
   */
  async read(connectionId: string): Promise<ConnectionSecrets | null> {
    const { sql, clock } = this.#options
    const now = clock.now().getTime()
    const cached = this.#cached.get(connectionId)
    if (cached && now < cached.until) return cached.secrets
    const secrets = await this.#open(sql, connectionId)
    if (this.#cached.size >= CACHED_MAX) this.#cached.clear()
    this.#cached.set(connectionId, { secrets, until: now + CACHED_MS })
    return secrets
  }

  /** The next read finds what another process has stored, for work that was asked for just now. */
  forget(connectionId: string): void {
    this.#cached.delete(connectionId)
  }

  /** Stores credentials on a locked connection. Its webhooks keep their secret. */
  async store(tx: Tx, connectionId: string, credentials: HostCredentials): Promise<void> {
    const known = await this.#open(tx, connectionId)
    const webhook_secret = known?.webhook_secret ?? randomBytes(WEBHOOK_SECRET_BYTES).toString('base64url')
    const secrets: ConnectionSecrets = { credentials, webhook_secret }
    const sealed = sealText(this.#options.sealingKey, formatLabel(connectionId), JSON.stringify(secrets))
    await updateSealedSecrets(tx, connectionId, sealed)
    this.#cached.delete(connectionId)
  }

  async remove(tx: Tx, connectionId: string): Promise<void> {
    await updateSealedSecrets(tx, connectionId, null)
    this.#cached.delete(connectionId)
  }

  async #open(db: Db, connectionId: string): Promise<ConnectionSecrets | null> {
    const sealed = await findSealedSecrets(db, connectionId)
    return sealed === null
      ? null
      : JSON.parse(openSealedText(this.#options.sealingKey, formatLabel(connectionId), sealed))
  }
}

function formatLabel(connectionId: string): string {
  return `connection ${connectionId}`
}

/** Where a host sends the events of a connection that has webhooks of its own. */
export function formatWebhookAddress(
  baseUrl: string,
  { provider, id }: Pick<ConnectionName, 'provider' | 'id'>,
): string {
  return `${baseUrl}/webhooks/${provider}/${id}`
}
