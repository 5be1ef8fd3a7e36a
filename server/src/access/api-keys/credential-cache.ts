import type { Clock } from '../../platform/clock.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { ACCESS_CHANNEL, findCredential, type StoredCredential } from './api-key.store.ts'
import { hashApiKey } from './api-key.ts'

/** The longest that a key's or a plan's change can go unnoticed where the notification is lost (specification: about 60 s). */
const KEPT_MS = 30_000
const ENTRIES_MAX = 10_000

type Entry = { credential: Promise<StoredCredential | null>; readAt: number }

/** Looks each key up once and keeps the answer for a short time. A notification from PostgreSQL drops it at once. */
export class CredentialCache {
  readonly #entries = new Map<string, Entry>()
  readonly #sql: Sql
  readonly #clock: Clock

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql
    this.#clock = clock
  }

  /** Starts to listen. What was kept while nobody listened (before, or during a lost connection) is dropped. */
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
