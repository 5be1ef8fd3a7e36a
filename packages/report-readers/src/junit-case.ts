import type { XmlAttributes } from './read-xml.ts'
import type { TestOutcome } from './test-results.ts'

/**
 * How tries of one test are counted. `merge`: equal cases of a file are tries of one test, whoever
 * wrote it. `count`: every try counts by itself. By default, only those are tries of one test that
 * the writer of the file states to be.
 */
export type Retries = 'stated' | 'merge' | 'count'

/** The elements of a case that say how it ended, and what each says of one try. */
export const OUTCOMES: Record<string, TestOutcome> = {
  failure: 'failed',
  error: 'errors',
  skipped: 'skipped',
  ignored: 'skipped',
  disabled: 'skipped',
  // Surefire: tries that failed, of a test that passed in the end.
  flakyFailure: 'failed',
  flakyError: 'errors',
  // pytest-rerunfailures, of tests with either end.
  rerun: 'failed',
  // PHPUnit: the test passed.
  warning: 'passed',
}

/** A `<testcase>` that was read, with the numbers of its elements by name. */
export type TestCase = {
  attributes: XmlAttributes
  elements: Map<string, number>
  /** The element that `message` is of. */
  worst: string | null
  message: string | null
  /** The message of its `<skipped>`; null without one. */
  skipMessage: string | null
}

/** `others` are the outcomes of earlier tries that count by themselves. */
export type Judged = {
  outcome: TestOutcome
  message: string | null
  isFlaky: boolean
  hasWarning: boolean
  others: TestOutcome[]
}

/** Values of `status` and `result` that GoogleTest and others write instead of an element. */
const NOT_RUN = /^(?:notrun|not[ _-]run|skipped|suppressed|disabled|ignored|pending)$/i
const FAILED = /^(?:fail|failed|failure)$/i
const ERROR = /^(?:error|errored|broken)$/i
const EARLIER_TRIES = ['flakyFailure', 'flakyError', 'rerun']

/**
 * The outcome of a case. `<skipped>` beside `<failure>` is skipped, as Jenkins reads it; `<error>`
 * beside `<skipped>` stays an error, because pytest writes one for a teardown that failed.
 */
export function judgeCase(test: TestCase, suite: XmlAttributes, retries: Retries): Judged {
  const outcome = outcomeOf(test, suite)
  const isFlakyByName = /^true$/i.test(test.attributes.flaky ?? '') && (outcome === 'failed' || outcome === 'errors')
  const tries = EARLIER_TRIES.filter((name) => test.elements.has(name))
  const isFlaky = isFlakyByName || (outcome === 'passed' && tries.length > 0)
  const hasWarning = outcome === 'passed' && test.elements.has('warning')
  const judged = { message: test.message, hasWarning }
  if (!isFlaky) return { ...judged, outcome, isFlaky, others: [] }
  if (retries !== 'count') return { ...judged, outcome: 'passed', isFlaky, others: [] }
  const others = isFlakyByName ? [] : tries.flatMap((name) => repeat(name, test.elements.get(name) as number))
  return { ...judged, outcome, isFlaky: false, others }
}

function repeat(name: string, times: number): TestOutcome[] {
  return Array.from({ length: times }, () => OUTCOMES[name] as TestOutcome)
}

function outcomeOf({ attributes, elements, skipMessage }: TestCase, suite: XmlAttributes): TestOutcome {
  const { status = '', result = '', executed = '' } = attributes
  if (isMissingProgram(status, skipMessage, suite)) return 'errors'
  if (skipMessage !== null) return elements.has('error') ? 'errors' : 'skipped'
  if (elements.has('failure')) return 'failed'
  if (elements.has('error')) return 'errors'
  if (FAILED.test(status) || FAILED.test(result)) return 'failed'
  if (ERROR.test(status) || ERROR.test(result)) return 'errors'
  const isSkipped = NOT_RUN.test(status) || NOT_RUN.test(result) || /^false$/i.test(executed)
  return isSkipped ? 'skipped' : 'passed'
}

/**
 * True for a test that ctest counts as failed because it could not run it, such as one without a
 * program. It states the same status for tests that skipped themselves, with another message. Only
 * ctest's suites have these totals and none of errors.
 */
function isMissingProgram(status: string, skipMessage: string | null, suite: XmlAttributes): boolean {
  const isCtest = suite.disabled !== undefined && suite.skipped !== undefined && suite.errors === undefined
  return isCtest && status === 'notrun' && !/^skip/i.test(skipMessage ?? '')
}
