/** `skipped`: this browser cannot do it, or the statement does not have it. */
export type Check = { name: string; outcome: 'passed' | 'failed' | 'skipped'; detail: string }

/** The statement is not accepted. The message tells the reader why. */
export class Refused extends Error {}

/** A check that cannot be done here. */
export class Skipped extends Error {}

/** A statement that lacks what it should have, such as one that was changed. */
const MALFORMED = 'It does not have the form of such a statement.'

/** The checks of one statement, in their order. */
export class Checks {
  readonly results: Check[] = []

  /** Runs a check, which fails by throwing `Refused`. Returns what it found; null if it did not pass. */
  async run<Found>(
    name: string,
    find: () => Found | Promise<Found>,
    describe: (found: Found) => string,
  ): Promise<Found | null> {
    try {
      const found = await find()
      this.results.push({ name, outcome: 'passed', detail: describe(found) })
      return found
    } catch (error) {
      const outcome = error instanceof Skipped ? 'skipped' : 'failed'
      this.results.push({ name, outcome, detail: isReason(error) ? error.message : MALFORMED })
      return null
    }
  }
}

function isReason(error: unknown): error is Error {
  return error instanceof Refused || error instanceof Skipped
}
