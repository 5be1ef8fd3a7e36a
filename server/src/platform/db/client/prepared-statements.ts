import type { Preparable, Rendered } from './template.ts'

/** A statement as a connection has prepared it. */
export type Prepared = {
  /** Empty for a statement that is prepared for one execution. */
  name: string
  /** The types of the parameters, as PostgreSQL describes them. */
  types: readonly number[]
  columns: readonly Column[]
}

export type Column = { name: string; parse: ((text: string) => unknown) | undefined }

/** Texts that are put together differ with their filters, and with the number of their rows. */
const COMBINED_MAX = 256

/** What one connection has prepared. */
export class PreparedStatements {
  readonly #templates = new Map<Preparable, Prepared>()
  /** The least recently used one is the first. */
  readonly #combined = new Map<string, Prepared>()
  #named = 0

  nextName(): string {
    this.#named += 1
    return `s${this.#named}`
  }

  find({ preparable, isStatic }: Rendered): Prepared | undefined {
    if (isStatic) return this.#templates.get(preparable)
    const key = getKey(preparable)
    const found = this.#combined.get(key)
    if (found !== undefined) {
      this.#combined.delete(key)
      this.#combined.set(key, found)
    }
    return found
  }

  /** Returns one that is to be closed because there are too many. */
  add({ preparable, isStatic }: Rendered, prepared: Prepared): Prepared | undefined {
    if (isStatic) {
      this.#templates.set(preparable, prepared)
      return undefined
    }
    this.#combined.set(getKey(preparable), prepared)
    if (this.#combined.size <= COMBINED_MAX) return undefined
    const [[key, oldest]] = this.#combined as unknown as [[string, Prepared]]
    this.#combined.delete(key)
    return oldest
  }

  remove({ preparable, isStatic }: Rendered): void {
    if (isStatic) this.#templates.delete(preparable)
    else this.#combined.delete(getKey(preparable))
  }
}

function getKey({ text, types }: Preparable): string {
  return `${types} ${text}`
}
