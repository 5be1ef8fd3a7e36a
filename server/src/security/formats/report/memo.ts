const ENTRIES_MAX = 2000
const KEY_MAX = 500

/**
 * Remembers what was made of a text. A report names the same few files and rules in very many results. Bounded in number and
 * length; what it holds is shared and must not be changed.
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
