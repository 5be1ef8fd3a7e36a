import type { Clock } from '../../platform/clock.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { ACCESS_CHANNEL, findCredential, type StoredCredential } from './api-key.store.ts'
import { hashApiKey } from './api-key.ts'

/**
 * Limits how long a changed key or plan stays in effect if its notification is lost (specification:
 * about 60 s).
 */
const KEPT_MS = 30_000
const ENTRIES_MAX = 10_000

type Entry = { credential: Promise<StoredCredential | null>; readAt: number }

/**
 * Caches credentials for a short time. A notification from PostgreSQL removes a changed one at
 * once.
 */
export class CredentialCache {
  readonly #entries = new Map<string, Entry>()
  readonly #sql: Sql
  readonly #clock: Clock

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql
    this.#clock = clock
  }

  /**
   * Starts to listen. A reconnect clears the cache, because notifications may have been lost before
   * it.
   */
  async listen(): Promise<() => Promise<void>> {
    const subscription = await this.#sql.listen(
      ACCESS_CHANNEL,
      (hash) => this.#forget(hash),
      () => this.#entries.clear(),
    )
    return () => subscription.unlisten()
  }

  find(key: string): Promise<StoredCredential | null> {
    const sha256 = hashApiKey(key)
    const id = sha256.toString('hex')
    const now = this.#clock.now().getTime()
    const known = this.#entries.get(id)
    if (known && Math.abs(now - known.readAt) < KEPT_MS) return known.credential
    return this.#read(id, sha256, now)
  }

  #read(id: string, sha256: Buffer, now: number): Promise<StoredCredential | null> {
    if (this.#entries.size >= ENTRIES_MAX) this.#entries.clear()
    const entry = { credential: findCredential(this.#sql, sha256), readAt: now }
    this.#entries.set(id, entry)
    entry.credential.catch(() => this.#drop(id, entry))
    return entry.credential
  }

  #drop(id: string, entry: Entry): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id)
  }

  #forget(hash: string): void {
    if (hash === '*') this.#entries.clear()
    else this.#entries.delete(hash)
  }
}
