import type { Clock } from '../platform/clock.ts'

/**
 * `keptMs` limits how long a changed key, trust or plan stays in effect if its notification is lost
 * (specification, "Limits").
 */
type CacheBounds = { keptMs: number; entriesMax: number }

const BOUNDS: CacheBounds = { keptMs: 30_000, entriesMax: 10_000 }

type Entry<Value> = { value: Promise<Value>; readAt: number }

/**
 * Caches what authentication reads for a short time. The gateway forgets an entry as soon as
 * PostgreSQL notifies it of a change. A full cache drops its oldest entry.
 */
export class AccessCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #clock: Clock
  readonly #bounds: CacheBounds

  constructor(clock: Clock, bounds = BOUNDS) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Simultaneous calls share one read. A read that fails is not kept. */
  find(id: string, read: () => Promise<Value>): Promise<Value> {
    const now = this.#clock.now().getTime()
    const known = this.#entries.get(id)
    if (known && Math.abs(now - known.readAt) < this.#bounds.keptMs) return known.value
    const entry = { value: read(), readAt: now }
    this.#store(id, entry)
    entry.value.catch(() => this.#drop(id, entry))
    return entry.value
  }

  /** Whether it has an entry, also one that is too old to be used. */
  has(id: string): boolean {
    return this.#entries.has(id)
  }

  /** Moves an entry to another cache, unless it was forgotten since it was read. */
  move(id: string, other: AccessCache<Value>): void {
    const entry = this.#entries.get(id)
    if (entry !== undefined) other.#store(id, entry)
    this.#entries.delete(id)
  }

  /** Forgets one entry, or all of them for `*`. */
  forget(id: string): void {
    if (id === '*') this.#entries.clear()
    else this.#entries.delete(id)
  }

  #store(id: string, entry: Entry<Value>): void {
    this.#entries.delete(id)
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= this.#bounds.entriesMax) this.#entries.delete(oldest)
    this.#entries.set(id, entry)
  }

  #drop(id: string, entry: Entry<Value>): void {
    if (this.#entries.get(id) === entry) this.#entries.delete(id)
  }
}
