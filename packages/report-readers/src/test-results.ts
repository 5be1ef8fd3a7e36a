/** The data of a `test-results` attestation. */
export type TestResults = {
  passed: number
  failed: number
  skipped: number
  errors: number
  durationSeconds: number
  /** The first failed tests, at most 50. */
  failures: TestFailure[]
}

type TestFailure = { suite: string | null; name: string; message: string | null }

export type TestOutcome = 'passed' | 'failed' | 'skipped' | 'errors'

const FAILURES_MAX = 50
const NAME_MAX = 300
const MESSAGE_MAX = 1000
/** What 50 failures may take of the 64 KiB of an attestation, in bytes of JSON. */
const FAILURES_BYTES_MAX = 60 * 1024

/** Counts the tests of any number of files. */
export class TestCount {
  readonly #counts = { passed: 0, failed: 0, skipped: 0, errors: 0 }
  readonly #failures: TestFailure[] = []
  #seconds = 0

  add(outcome: TestOutcome, count = 1): void {
    this.#counts[outcome] += count
  }

  addSeconds(seconds: number): void {
    this.#seconds += seconds
  }

  addFailure({ suite, name, message }: TestFailure): void {
    if (this.#failures.length >= FAILURES_MAX) return
    this.#failures.push({
      suite: suite === null ? null : cut(suite, NAME_MAX),
      name: cut(name, NAME_MAX),
      message: message === null ? null : cut(message, MESSAGE_MAX),
    })
  }

  results(): TestResults {
    return {
      ...this.#counts,
      durationSeconds: Math.round(this.#seconds * 1000) / 1000,
      failures: withinLimit(this.#failures),
    }
  }
}

/** Shortens the messages until the list fits, because escaped characters take up to six bytes. */
function withinLimit(failures: TestFailure[]): TestFailure[] {
  for (let length = MESSAGE_MAX; length >= 1; length = Math.floor(length / 2)) {
    const shortened = failures.map(({ suite, name, message }) => ({
      suite,
      name,
      message: message === null ? null : cut(message, length),
    }))
    if (Buffer.byteLength(JSON.stringify(shortened)) <= FAILURES_BYTES_MAX) return shortened
  }
  return failures.slice(0, FAILURES_MAX / 10)
}

/** Terminal colours, also after their first character was replaced because XML does not allow it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with ESC
const COLOURS = /(?:[\u001b\ufffd]|&#(?:27|x1b);)\[[0-9;]*[A-Za-z]/gi

function cut(text: string, length: number): string {
  const clean = text.replace(COLOURS, '').trim().toWellFormed()
  return clean.length <= length ? clean : `${clean.slice(0, length - 1).toWellFormed()}…`
}
