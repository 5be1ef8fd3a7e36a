import { ReportFileError, readText } from '../file-text.ts'
import { readXml, type XmlAttributes, type XmlReader } from '../read-xml.ts'
import { CloverReader } from './clover.ts'
import { CoberturaReader } from './cobertura.ts'
import { JacocoReader } from './jacoco.ts'
import { readLcov } from './lcov.ts'
import { type LineTotals, percentOf } from './line-coverage.ts'

export type CoverageFormat = 'lcov' | 'cobertura' | 'jacoco' | 'clover'

/** `lines` is the line coverage in percent, with two decimals. */
export type Coverage = { lines: number; format: CoverageFormat }

/**
 * Reads the line coverage of a report. The format is detected by the content. Memory does not grow
 * with the file, except for about one byte per line of source code. Throws ReportFileError.
 */
export async function readCoverage(path: string): Promise<Coverage> {
  if (!(await isXml(path))) return { lines: percentOf(await readLcov(path)), format: 'lcov' }
  const { format, reader } = await readXmlCoverage(path)
  const totals = reader.totals()
  if (totals !== null) return { lines: percentOf(totals), format }
  throw new ReportFileError({ path }, WITHOUT_LINES[format])
}

type CoverageReader = XmlReader & { totals(): LineTotals | null }

async function isXml(path: string): Promise<boolean> {
  for await (const text of readText(path)) {
    const start = text.trimStart()
    if (start !== '') return start.startsWith('<')
  }
  return false
}

async function readXmlCoverage(path: string): Promise<{ format: CoverageFormat; reader: CoverageReader }> {
  let format: CoverageFormat = 'cobertura'
  let reader: CoverageReader | undefined
  await readXml(path, (root, attributes) => {
    const found = formatOf(root, attributes)
    if (found === null) return refusalOf(root)
    format = found
    reader = READERS[found]()
    return reader
  })
  return { format, reader: reader as unknown as CoverageReader }
}

/** Why a report has no figure. */
const WITHOUT_LINES: Record<CoverageFormat, string> = {
  jacoco: 'the JaCoCo report has no LINE counters; compile the classes with debug information',
  clover: 'expected lcov, Cobertura, JaCoCo or Clover, found <coverage> without <project>',
  cobertura: 'the Cobertura report has no lines',
  lcov: 'the tracefile has no lines',
}

const READERS = {
  cobertura: () => new CoberturaReader(),
  clover: () => new CloverReader(),
  jacoco: () => new JacocoReader(),
}

/** Cobertura and Clover have the same root element with other attributes. */
function formatOf(root: string, attributes: XmlAttributes): keyof typeof READERS | null {
  if (root === 'report') return 'jacoco'
  if (root !== 'coverage') return null
  if ('clover' in attributes || 'generated' in attributes) return 'clover'
  if (['line-rate', 'lines-valid', 'branch-rate', 'timestamp'].some((name) => name in attributes)) return 'cobertura'
  return 'version' in attributes ? null : 'clover'
}

/** Other reports, by their root element. */
const OTHER_REPORTS: Record<string, string> = {
  coverage: 'neither Cobertura nor Clover, perhaps the generic format of SonarQube',
  CoverageSession: 'an OpenCover report; convert it to Cobertura with ReportGenerator',
  results: 'a report of Visual Studio; write it with `--coverage-output-format cobertura`',
  testsuites: 'JUnit test results; use --junit',
  testsuite: 'JUnit test results; use --junit',
  html: 'an HTML page',
}

function refusalOf(root: string): string {
  const described = Object.hasOwn(OTHER_REPORTS, root) ? `: the file is ${OTHER_REPORTS[root]}` : ''
  return `expected lcov, Cobertura, JaCoCo or Clover, found <${root.slice(0, 50)}>${described}`
}
