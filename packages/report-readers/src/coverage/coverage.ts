import { ReportFileError, readText } from '../file-text.ts'
import type { FoundFile } from '../found-file.ts'
import { readXml, type XmlAttributes, type XmlReader } from '../read-xml.ts'
import { CloverReader } from './clover.ts'
import { CoberturaReader } from './cobertura.ts'
import { JacocoReader } from './jacoco.ts'
import { readLcov } from './lcov.ts'
import { type LineTotals, percentOf } from './line-coverage.ts'

type CoverageFormat = 'lcov' | 'cobertura' | 'jacoco' | 'clover'

/** `lines` is the line coverage in percent, with two decimals. `warnings` name the file. */
export type Coverage = { lines: number; format: CoverageFormat; warnings: string[] }

/**
 * Reads the line coverage of a report. The format is detected by the content. Memory does not grow
 * with the file, except for about one byte per line of source code. Throws ReportFileError.
 */
export async function readCoverage(file: FoundFile): Promise<Coverage> {
  const warnings: string[] = []
  if (!(await isXml(file))) return { lines: percentOf(await readLcov(file, warnings)), format: 'lcov', warnings }
  const readerOf = (root: string, attributes: XmlAttributes) => {
    const format = formatOf(root, attributes)
    return format === null ? refusalOf(root) : READERS[format]()
  }
  const reader = await readXml(file, readerOf, warnings)
  const totals = reader.totals()
  if (typeof totals === 'string') throw new ReportFileError(file, totals)
  for (const warning of reader.warnings ?? []) warnings.push(`${file.path}: ${warning}`)
  return { lines: percentOf(totals), format: reader.format, warnings }
}

/** Reads one format. `totals` is a sentence if the document has no figures. */
type CoverageReader = XmlReader & {
  format: CoverageFormat
  totals(): LineTotals | string
  /** What people should know of the document. */
  warnings?: string[]
}

async function isXml(file: FoundFile): Promise<boolean> {
  for await (const text of readText(file)) {
    const start = text.trimStart()
    if (start !== '') return start.startsWith('<')
  }
  return false
}

const READERS = {
  cobertura: (): CoverageReader => new CoberturaReader(),
  clover: (): CoverageReader => new CloverReader(),
  jacoco: (): CoverageReader => new JacocoReader(),
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
