import type { XmlAttributes, XmlReader } from '../read-xml.ts'
import { LineCoverage, type LineTotals, lineNumber } from './line-coverage.ts'

/** A report may state a rate of 1 although it has read no code. */
const NO_LINES = 'the report lists no lines, so its coverage is 0 %'

/**
 * Reads a Cobertura report. The totals of the report count, because they are what the tool shows:
 * `lines-covered` and `lines-valid`, else `line-rate`. If they are absent or 0, its lines count.
 * Without lines, nothing is covered.
 */
export class CoberturaReader implements XmlReader {
  readonly format = 'cobertura'
  readonly #lines = new LineCoverage()
  #stated: LineTotals | null = null
  #rate: number | null = null
  #file = ''
  #isInMethod = false
  /** The lines of the methods of a class, which count if it lists no lines of its own. */
  #methodLines: [line: number, isCovered: boolean][] = []
  #hasOwnLines = false

  open(name: string, attributes: XmlAttributes, depth: number): void {
    if (depth === 0) this.#readTotals(attributes)
    else if (name === 'class') this.#openClass(attributes)
    else if (name === 'methods') this.#isInMethod = true
    else if (name === 'line') this.#addLine(attributes)
  }

  close(name: string): void {
    if (name === 'methods') this.#isInMethod = false
    else if (name === 'class') this.#closeClass()
  }

  totals(): LineTotals {
    if (this.#stated !== null) return this.#stated
    const listed = this.#lines.totals
    return this.#rate === null || listed.total === 0 ? listed : { covered: this.#rate, total: 1 }
  }

  get warnings(): string[] {
    return this.totals().total === 0 ? [NO_LINES] : []
  }

  #readTotals(attributes: XmlAttributes): void {
    const covered = lineNumber(attributes['lines-covered'])
    const total = lineNumber(attributes['lines-valid'])
    if (covered !== null && total !== null && total > 0) this.#stated = { covered, total }
    const rate = Number(attributes['line-rate'] || Number.NaN)
    if (rate > 0 && rate <= 1 && total !== 0) this.#rate = rate
  }

  #openClass({ filename, name }: XmlAttributes): void {
    this.#file = filename ?? name ?? ''
    this.#methodLines = []
    this.#hasOwnLines = false
  }

  #closeClass(): void {
    if (this.#hasOwnLines) return
    for (const [line, isCovered] of this.#methodLines) this.#lines.add(this.#file, line, isCovered)
  }

  /** The lines of methods are usually also in the list of their class. */
  #addLine({ number, hits }: XmlAttributes): void {
    const line = lineNumber(number)
    if (line === null) return
    const isCovered = Number(hits) > 0
    if (this.#isInMethod) this.#methodLines.push([line, isCovered])
    else this.#lines.add(this.#file, line, isCovered)
    this.#hasOwnLines ||= !this.#isInMethod
  }
}
