import type { XmlAttributes, XmlReader } from '../read-xml.ts'
import { LineCoverage, type LineTotals, lineNumber } from './line-coverage.ts'

/**
 * Reads a Clover report. The statements of the project's `<metrics>` count, without test code; if the
 * project has none, those of its files, and else its lines.
 */
export class CloverReader implements XmlReader {
  readonly format = 'clover'
  readonly #lines = new LineCoverage()
  readonly #path: string[] = []
  #project: LineTotals | null = null
  #files: LineTotals | null = null
  #file = ''
  #hasProject = false

  open(name: string, attributes: XmlAttributes, depth: number): void {
    this.#path.length = depth
    this.#path[depth] = name
    if (this.#path[1] !== 'project') return
    this.#hasProject = true
    if (name === 'file') this.#file = attributes.path ?? attributes.name ?? ''
    else if (name === 'metrics') this.#readMetrics(attributes, this.#path[depth - 1])
    else if (name === 'line') this.#addLine(attributes)
  }

  /** Other reports have the same root element, but no project. */
  totals(): LineTotals | string {
    if (!this.#hasProject) return 'expected lcov, Cobertura, JaCoCo or Clover, found <coverage> without <project>'
    return this.#project ?? this.#files ?? this.#lines.totals
  }

  #readMetrics({ statements, coveredstatements }: XmlAttributes, parent: string | undefined): void {
    const covered = lineNumber(coveredstatements)
    const total = lineNumber(statements)
    if (covered === null || total === null) return
    if (parent === 'project') this.#project = { covered, total }
    if (parent !== 'file') return
    const known = this.#files ?? { covered: 0, total: 0 }
    this.#files = { covered: known.covered + covered, total: known.total + total }
  }

  #addLine({ num, count, type }: XmlAttributes): void {
    const line = lineNumber(num)
    if (line !== null && (type ?? 'stmt') === 'stmt') this.#lines.add(this.#file, line, Number(count) > 0)
  }
}
