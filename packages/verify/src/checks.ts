/** A document or a part of it is not accepted. The message tells the reader why. */
export class Refused extends Error {}

/** The result of one check. `detail` says what was found. */
export type Check = { name: string; ok: boolean; detail: string }

/** The checks of one document, in their order. */
export class Checks {
  readonly results: Check[] = []

  /** Runs a check, which fails by throwing `Refused`. Returns what it found; null if it failed. */
  async run<T>(name: string, find: () => T | Promise<T>, describe: (found: T) => string): Promise<T | null> {
    try {
      const found = await find()
      this.results.push({ name, ok: true, detail: describe(found) })
      return found
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.results.push({ name, ok: false, detail: error.message })
      return null
    }
  }
}
