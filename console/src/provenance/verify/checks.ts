import { Refused } from '@shiplock/verify/checks'
import { Unsupported } from '@shiplock/verify/crypto'

/** `skipped`: this browser cannot do it. */
export type Check = { name: string; outcome: 'passed' | 'failed' | 'skipped'; detail: string }

/** A statement that lacks what it should have, such as one that was changed. */
const MALFORMED = 'It does not have the form of such a statement.'
const UNSUPPORTED = 'This browser cannot verify Ed25519 signatures. Use a newer one, or shiplock verify.'

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
      this.results.push({ name, ...describeFailure(error) })
      return null
    }
  }
}

function describeFailure(error: unknown): Pick<Check, 'outcome' | 'detail'> {
  if (error instanceof Unsupported) return { outcome: 'skipped', detail: UNSUPPORTED }
  return { outcome: 'failed', detail: error instanceof Refused ? sentence(error.message) : MALFORMED }
}

/** The package words reasons as parts of a line. */
function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`
}
