import { readSeconds } from './duration.ts'
import type { FoundFile } from './found-file.ts'
import { type Judged, judgeCase, OUTCOMES, type Retries, type TestCase } from './junit-case.ts'
import { readXml, type XmlAttributes, type XmlReader } from './read-xml.ts'
import { TestCount, type TestName, type TestResults } from './test-results.ts'

/**
 * Counts the tests of JUnit XML files, in every common dialect. The test cases count; the totals of a
 * suite count only if it lists neither cases nor suites, or states more failures than its cases show.
 * A test that was tried again counts once, by its last try. Memory does not grow with the files,
 * except by the names of tests that may be tried again. Adds to `warnings` what people should know of
 * the files. Throws ReportFileError.
 */
export async function readJunit(
  files: readonly FoundFile[],
  retries: Retries,
  warnings: string[],
): Promise<TestResults> {
  const count = new TestCount()
  for (const file of files) {
    const reader = new JunitReader(count, retries)
    await readXml(file, (root) => refusalOf(root) ?? reader, warnings)
    warnings.push(...reader.warnings.map((warning) => `${file.path}: ${warning}`))
  }
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
  hasSuites: boolean
  /** The time of its cases and suites. */
  seconds: number
  cases: number
  /** Cases that failed, each try by itself. */
  failing: number
  /** The elements of failures and errors, however their cases were judged. */
  elements: number
  /** The cases by name, where equal ones are tries of one test. */
  tries: Map<string, Try[]> | null
}

/** Tests that may have several tries. The cases of more tests count each by itself. */
const TRIED_MAX = 200_000

/** A case that may be a try of a test. */
type Try = { test: TestName; judged: Judged }

/** A message like this says less than the text of the element. */
const NO_MESSAGE = /^(?:failed)?$/i
const MESSAGE_READ_MAX = 4000

class JunitReader implements XmlReader {
  readonly #count: TestCount
  readonly #retries: Retries
  readonly #suites: Suite[] = []
  /** With `merge`, the tries of the whole file. */
  readonly #tries = new Map<string, Try[]>()
  #case: TestCase | null = null
  /** The depth of the case, or of a suite's own `<error>` or `<failure>`. */
  #caseDepth = 0
  /** The text of the failure that is being read; null elsewhere. */
  #text: string | null = null
  /** Suites whose totals are not those of their cases, and the first of them. */
  #differing = 0
  #firstDiffering = ''
  #withWarning = 0

  constructor(count: TestCount, retries: Retries) {
    this.#count = count
    this.#retries = retries
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
    if (depth === 0) this.#countTries(this.#tries)
  }

  get warnings(): string[] {
    const more = this.#differing > 1 ? `; ${this.#differing - 1} more of its suites differ` : ''
    return [
      ...(this.#differing > 0 ? [`${this.#firstDiffering}${more}`] : []),
      ...(this.#withWarning > 0 ? [`${this.#withWarning} of the passed tests have a warning`] : []),
    ]
  }

  #openSuite(attributes: XmlAttributes): void {
    const parent = this.#suites.at(-1)
    if (parent !== undefined) Object.assign(parent, { isListed: true, hasSuites: true })
    const counted = { seconds: 0, cases: 0, failing: 0, elements: 0 }
    this.#suites.push({ attributes, isListed: false, hasSuites: false, ...counted, tries: this.#triesOf(attributes) })
  }

  /** Gradle lists the tries of a test one after the other, in the suite of their class. */
  #triesOf({ timestamp, hostname }: XmlAttributes): Map<string, Try[]> | null {
    if (this.#retries === 'merge') return this.#tries
    const isGradle = timestamp !== undefined && hostname !== undefined
    return this.#retries === 'stated' && isGradle ? new Map() : null
  }

  #openCase(attributes: XmlAttributes, depth: number): void {
    this.#suite.isListed = true
    this.#case = { attributes, elements: new Map(), message: null, worst: null, skipMessage: null }
    this.#caseDepth = depth
  }

  /** A suite that could not be started has the error itself. */
  #openSuiteError(name: string, attributes: XmlAttributes, depth: number): void {
    this.#openCase({ name: this.#suite.attributes.name ?? '' }, depth)
    this.#openElement(name, attributes)
  }

  #openInCase(name: string, attributes: XmlAttributes, depth: number): void {
    if (depth === this.#caseDepth + 1 && Object.hasOwn(OUTCOMES, name)) this.#openElement(name, attributes)
  }

  #openElement(name: string, { message, type }: XmlAttributes): void {
    const { elements, worst } = this.#case as TestCase
    const test = this.#case as TestCase
    elements.set(name, (elements.get(name) ?? 0) + 1)
    if (OUTCOMES[name] === 'skipped') test.skipMessage ??= message ?? ''
    const isWorse = name === 'failure' || (name === 'error' && worst !== 'failure')
    if (!isWorse || worst === name) return
    Object.assign(test, { worst: name, message: trimmed(message) ?? trimmed(type) })
    if (NO_MESSAGE.test(message?.trim() ?? '')) this.#text = ''
  }

  #closeFailure(): void {
    const test = this.#case as TestCase
    test.message = trimmed(this.#text ?? '') ?? test.message
    this.#text = null
  }

  #closeCase(test: TestCase): void {
    this.#case = null
    const suite = this.#suite
    const judged = judgeCase(test, suite.attributes, this.#retries)
    const { attributes, elements } = test
    suite.cases += 1
    suite.elements += (elements.get('failure') ?? 0) + (elements.get('error') ?? 0)
    suite.seconds += readSeconds(attributes.time)
    if (isFailing(judged)) suite.failing += 1
    if (judged.hasWarning) this.#withWarning += 1
    const named = { suite: this.#suiteName(attributes), name: trimmed(attributes.name) ?? '(unnamed)' }
    const tries = this.#isTry(attributes) ? suite.tries : null
    const key = JSON.stringify([suite.attributes.name, attributes.classname, attributes.name])
    const earlier = tries?.get(key)
    if (earlier !== undefined) earlier.push({ test: named, judged })
    else if (tries !== null && tries.size < TRIED_MAX) tries.set(key, [{ test: named, judged }])
    else this.#countCase({ test: named, judged })
  }

  #isTry({ classname }: XmlAttributes): boolean {
    return this.#retries === 'merge' || classname === this.#suite.attributes.name
  }

  /** Equal cases are tries of one test if all but the last failed. Otherwise each is a test. */
  #countTries(tries: Map<string, Try[]>): void {
    for (const cases of tries.values()) {
      const last = cases.at(-1) as Try
      const areTries = cases.length > 1 && cases.slice(0, -1).every(({ judged }) => isFailing(judged))
      if (!areTries) for (const each of cases) this.#countCase(each)
      else this.#countCase({ ...last, judged: { ...last.judged, isFlaky: last.judged.outcome === 'passed' } })
    }
    tries.clear()
  }

  #countCase({ test, judged }: Try): void {
    const { outcome, message, isFlaky, others } = judged
    for (const counted of [outcome, ...others]) this.#count.add(counted)
    if (isFlaky) this.#count.addFlaky(test)
    if (isFailing(judged)) this.#count.addFailure({ ...test, message })
  }

  /** The name of the suite. pytest names every suite `pytest`; its classes tell more. */
  #suiteName({ classname }: XmlAttributes): string | null {
    const name = trimmed(this.#suite.attributes.name)
    return (name === 'pytest' ? null : name) ?? trimmed(classname) ?? name
  }

  #closeSuite(): void {
    const suite = this.#suites.pop() as Suite
    const { attributes, isListed, seconds, tries } = suite
    if (tries !== null && tries !== this.#tries) this.#countTries(tries)
    if (!isListed) this.#countTotals(attributes)
    else if (!suite.hasSuites) this.#compareTotals(suite)
    const total = seconds > 0 ? seconds : readSeconds(attributes.time)
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

  /** A failure that a suite states and none of its cases shows has happened all the same. */
  #compareTotals({ attributes, cases, failing, elements }: Suite): void {
    const name = trimmed(attributes.name) ?? '(unnamed)'
    const stated = countOf(attributes.failures) + countOf(attributes.errors)
    const shown = Math.max(failing, elements)
    if (stated > shown) {
      this.#count.add('failed', stated - shown)
      const message = `The suite states ${stated} failures and errors, and its test cases show ${shown}.`
      this.#count.addFailure({ suite: name, name, message })
    }
    const tests = attributes.tests === undefined ? cases : countOf(attributes.tests)
    if (tests !== cases) this.#addDifference(`the suite "${name}" states ${tests} tests and lists ${cases}`)
    else if (attributes.failures !== undefined && stated < Math.min(failing, elements)) {
      this.#addDifference(`the suite "${name}" states ${stated} failed tests and lists ${failing}`)
    }
  }

  #addDifference(difference: string): void {
    this.#differing += 1
    this.#firstDiffering ||= difference
  }
}

function isFailing({ outcome }: Judged): boolean {
  return outcome === 'failed' || outcome === 'errors'
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
