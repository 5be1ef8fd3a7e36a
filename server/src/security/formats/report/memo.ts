const ENTRIES_MAX = 2000
const KEY_MAX = 500

/**
 * A bounded cache of values by key, because many results of a report name the same few files and
 * rules. The values are shared and must not be changed.
 */
export class Memo<T extends NonNullable<unknown>> {
  readonly #known = new Map<string, T>()

  get(key: string, make: () => T): T {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = make()
    if (this.#known.size === ENTRIES_MAX) this.clear()
    if (key.length <= KEY_MAX) this.#known.set(key, made)
    return made
  }

  clear(): void {
    this.#known.clear()
  }
}
