import type { FoundFile } from './found-file.ts'
import { readXml, type XmlAttributes, type XmlReader } from './read-xml.ts'
import { TestCount, type TestOutcome, type TestResults } from './test-results.ts'

/**
 * Counts the tests of JUnit XML files, in every common dialect. The test cases count; the totals of a
 * suite count only if it lists neither cases nor suites. A case that Surefire ran again counts once,
 * as passed if a later run passed. Memory does not grow with the files. Throws ReportFileError.
 */
export async function readJunit(files: readonly FoundFile[]): Promise<TestResults> {
  const count = new TestCount()
  for (const file of files) await readXml(file, (root) => refusalOf(root) ?? new JunitReader(count))
  return count.results()
}

/** Reports of test runners that can write JUnit XML, by their root element. */
const OTHER_REPORTS: Record<string, string> = {
  TestRun: 'a TRX report; run `dotnet test --logger junit` with the package JunitXml.TestLogger',
  'test-run': 'an NUnit report; write it as JUnit XML',
  'test-results': 'an NUnit 2 report; write it as JUnit XML',
  assemblies: 'an xUnit.net report; write it as JUnit XML',
  'testng-results': 'a TestNG report; use the files in `junitreports`',
  coverage: 'a coverage report; use --coverage',
  report: 'a JaCoCo report; use --coverage',
  bom: 'a CycloneDX document',
  html: 'an HTML page',
}

function refusalOf(root: string): string | null {
  if (root === 'testsuites' || root === 'testsuite') return null
  const described = Object.hasOwn(OTHER_REPORTS, root) ? `: the file is ${OTHER_REPORTS[root]}` : ''
  return `expected JUnit XML with <testsuites> or <testsuite>, found <${root.slice(0, 50)}>${described}`
}

type Suite = {
  attributes: XmlAttributes
  /** True if it lists cases or suites, so that its own totals do not count. */
  isListed: boolean
  /** The time of its cases and suites. */
  seconds: number
}

type TestCase = { attributes: XmlAttributes; outcome: TestOutcome; message: string | null }

const OUTCOMES: Record<string, TestOutcome> = {
  failure: 'failed',
  error: 'errors',
  skipped: 'skipped',
  ignored: 'skipped',
  disabled: 'skipped',
}

/** The outcome of a case with several of these elements is the first of this list. */
const WORST_FIRST: TestOutcome[] = ['failed', 'errors', 'skipped', 'passed']

/** Values of `status` and `result` that GoogleTest and others write instead of `<skipped>`. */
const NOT_RUN = /^(?:notrun|not[ _-]run|skipped|suppressed|disabled|ignored|pending)$/i

/** A message like this says less than the text of the element. */
const NO_MESSAGE = /^(?:failed)?$/i
const MESSAGE_READ_MAX = 4000

class JunitReader implements XmlReader {
  readonly #count: TestCount
  readonly #suites: Suite[] = []
  #case: TestCase | null = null
  /** The depth of the case, or of a suite's own `<error>` or `<failure>`. */
  #caseDepth = 0
  /** The text of the failure that is being read; null elsewhere. */
  #text: string | null = null

  constructor(count: TestCount) {
    this.#count = count
  }

  open(name: string, attributes: XmlAttributes, depth: number): void {
    if (this.#case !== null) this.#openInCase(name, attributes, depth)
    else if (isSuite(name)) this.#openSuite(attributes)
    else if (name === 'testcase') this.#openCase(attributes, depth)
    else if (name === 'error' || name === 'failure') this.#openSuiteError(name, attributes, depth)
  }

  text(text: string): void {
    if (this.#text !== null && this.#text.length < MESSAGE_READ_MAX) this.#text += text
  }

  close(name: string, depth: number): void {
    if (this.#text !== null && depth <= this.#caseDepth + 1) this.#closeFailure()
    if (this.#case !== null && depth === this.#caseDepth) this.#closeCase(this.#case)
    else if (this.#case === null && isSuite(name)) this.#closeSuite()
  }

  #openSuite(attributes: XmlAttributes): void {
    const parent = this.#suites.at(-1)
    if (parent !== undefined) parent.isListed = true
    this.#suites.push({ attributes, isListed: false, seconds: 0 })
  }

  #openCase(attributes: XmlAttributes, depth: number): void {
    this.#suite.isListed = true
    const { status, result, executed } = attributes
    const isSkipped = NOT_RUN.test(status ?? '') || NOT_RUN.test(result ?? '') || /^false$/i.test(executed ?? '')
    this.#case = { attributes, outcome: isSkipped ? 'skipped' : 'passed', message: null }
    this.#caseDepth = depth
  }

  /** A suite that could not be started has the error itself. */
  #openSuiteError(name: string, attributes: XmlAttributes, depth: number): void {
    this.#openCase({ name: this.#suite.attributes.name ?? '' }, depth)
    this.#openOutcome(name, attributes)
  }

  #openInCase(name: string, attributes: XmlAttributes, depth: number): void {
    if (depth === this.#caseDepth + 1 && Object.hasOwn(OUTCOMES, name)) this.#openOutcome(name, attributes)
  }

  #openOutcome(name: string, { message, type }: XmlAttributes): void {
    const test = this.#case as TestCase
    const outcome = OUTCOMES[name] as TestOutcome
    if (WORST_FIRST.indexOf(outcome) >= WORST_FIRST.indexOf(test.outcome)) return
    Object.assign(test, { outcome, message: trimmed(message) ?? trimmed(type) })
    if (NO_MESSAGE.test(message?.trim() ?? '')) this.#text = ''
  }

  #closeFailure(): void {
    const test = this.#case as TestCase
    test.message = trimmed(this.#text ?? '') ?? test.message
    this.#text = null
  }

  #closeCase({ attributes, outcome, message }: TestCase): void {
    this.#case = null
    this.#count.add(outcome)
    this.#suite.seconds += secondsOf(attributes)
    if (outcome !== 'failed' && outcome !== 'errors') return
    this.#count.addFailure({
      suite: this.#suiteName(attributes),
      name: trimmed(attributes.name) ?? '(unnamed)',
      message,
    })
  }

  /** The name of the suite. pytest names every suite `pytest`; its classes tell more. */
  #suiteName({ classname }: XmlAttributes): string | null {
    const name = trimmed(this.#suite.attributes.name)
    return (name === 'pytest' ? null : name) ?? trimmed(classname) ?? name
  }

  #closeSuite(): void {
    const { attributes, isListed, seconds } = this.#suites.pop() as Suite
    if (!isListed) this.#countTotals(attributes)
    const total = seconds > 0 ? seconds : secondsOf(attributes)
    const parent = this.#suites.at(-1)
    if (parent === undefined) this.#count.addSeconds(total)
    else parent.seconds += total
  }

  get #suite(): Suite {
    return this.#suites.at(-1) as Suite
  }

  #countTotals(attributes: XmlAttributes): void {
    const failed = countOf(attributes.failures)
    const errors = countOf(attributes.errors)
    const skipped = countOf(attributes.skipped ?? attributes.skip ?? attributes.disabled)
    this.#count.add('failed', failed)
    this.#count.add('errors', errors)
    this.#count.add('skipped', skipped)
    this.#count.add('passed', Math.max(0, countOf(attributes.tests) - failed - errors - skipped))
  }
}

/** The root `<testsuites>` is like a suite: it may have totals and even cases. */
function isSuite(name: string): boolean {
  return name === 'testsuite' || name === 'testsuites'
}

function trimmed(text = ''): string | null {
  return text.trim() || null
}

function countOf(text: string | undefined): number {
  const count = Number(text?.trim() || 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

/** Seconds as tools write them: `1.5`, `1,234.5` (Surefire) or `0,5` (a decimal comma). */
function secondsOf({ time = '' }: XmlAttributes): number {
  const text = time.includes('.') ? time.replaceAll(',', '') : time.replace(',', '.')
  const seconds = Number(text.trim() || 0)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0
}
