import type { Clock } from '../platform/clock.ts'

/**
 * Limits how long a changed key, trust or plan stays in effect if its notification is lost
 * (specification, "Limits").
 */
const KEPT_MS = 30_000
const ENTRIES_MAX = 10_000

type Entry<Value> = { value: Promise<Value>; readAt: number }

/**
 * Caches what authentication reads for a short time. The gateway forgets an entry as soon as
 * PostgreSQL notifies it of a change.
 */
export class AccessCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Simultaneous calls share one read. A read that fails is not kept. */
  find(id: string, read: () => Promise<Value>): Promise<Value> {
    const now = this.#clock.now().getTime()
    const known = this.#entries.get(id)
    if (known && Math.abs(now - known.readAt) < KEPT_MS) return known.value
    if (this.#entries.size >= ENTRIES_MAX) this.#entries.clear()
    const entry = { value: read(), readAt: now }
    this.#entries.set(id, entry)
    entry.value.catch(() => this.#drop(id, entry))
    return entry.value
  }

  /** Forgets one entry, or all of them for `*`. */
  forget(id: string): void {
    if (id === '*') this.#entries.clear()
    else this.#entries.delete(id)
  }

  #drop(id: string, entry: Entry<Value>): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id)
  }
}
