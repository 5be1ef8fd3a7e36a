/** The data of a `test-results` attestation. */
export type TestResults = {
  passed: number
  failed: number
  skipped: number
  errors: number
  durationSeconds: number
  /** How many of the passed tests had failed in an earlier try. */
  flaky: number
  /** The first failed tests, at most 50. */
  failures: TestFailure[]
  /** The first flaky tests, at most 50. */
  flakyTests: TestName[]
}

export type TestName = { suite: string | null; name: string }
type TestFailure = TestName & { message: string | null }

export type TestOutcome = 'passed' | 'failed' | 'skipped' | 'errors'

const FAILURES_MAX = 50
const NAME_MAX = 300
const MESSAGE_MAX = 1000
/** What 50 failures may take of the 64 KiB of an attestation, in bytes of JSON. */
const FAILURES_BYTES_MAX = 50 * 1024
const FLAKY_MAX = 50
/** What the flaky tests may take beside them. */
const FLAKY_BYTES_MAX = 10 * 1024

/** Counts the tests of any number of files. */
export class TestCount {
  readonly #counts = { passed: 0, failed: 0, skipped: 0, errors: 0 }
  readonly #failures: TestFailure[] = []
  readonly #flakyTests: TestName[] = []
  #flaky = 0
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
      ...cutName({ suite, name }),
      message: message === null ? null : cut(message, MESSAGE_MAX),
    })
  }

  /** A test that passed in its last try, and failed before. */
  addFlaky(test: TestName): void {
    this.#flaky += 1
    if (this.#flakyTests.length < FLAKY_MAX) this.#flakyTests.push(cutName(test))
  }

  results(): TestResults {
    return {
      ...this.#counts,
      durationSeconds: Math.round(this.#seconds * 1000) / 1000,
      flaky: this.#flaky,
      failures: withinLimit(this.#failures),
      flakyTests: firstWithin(this.#flakyTests, FLAKY_BYTES_MAX),
    }
  }
}

function cutName({ suite, name }: TestName): TestName {
  return { suite: suite === null ? null : cut(suite, NAME_MAX), name: cut(name, NAME_MAX) }
}

function firstWithin<Item>(items: readonly Item[], bytesMax: number): Item[] {
  let bytes = 2
  return items.filter((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1
    return bytes <= bytesMax
  })
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
