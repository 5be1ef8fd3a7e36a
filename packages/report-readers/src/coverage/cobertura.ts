import type { XmlAttributes, XmlReader } from '../read-xml.ts'
import { LineCoverage, type LineTotals, lineNumber } from './line-coverage.ts'

/**
 * Reads a Cobertura report. The totals of the report count, because they are what the tool shows:
 * `lines-covered` and `lines-valid`, else `line-rate`. If they are absent or 0, its lines count.
 */
export class CoberturaReader implements XmlReader {
  readonly format = 'cobertura'
  readonly #lines = new LineCoverage()
  #stated: LineTotals | null = null
  #rate: number | null = null
  #file = ''
  #isInMethod = false

  open(name: string, attributes: XmlAttributes, depth: number): void {
    if (depth === 0) this.#readTotals(attributes)
    else if (name === 'class') this.#file = attributes.filename ?? attributes.name ?? ''
    else if (name === 'methods') this.#isInMethod = true
    else if (name === 'line') this.#addLine(attributes)
  }

  close(name: string): void {
    if (name === 'methods') this.#isInMethod = false
  }

  totals(): LineTotals {
    if (this.#stated !== null) return this.#stated
    return this.#rate === null ? this.#lines.totals : { covered: this.#rate, total: 1 }
  }

  #readTotals(attributes: XmlAttributes): void {
    const covered = lineNumber(attributes['lines-covered'])
    const total = lineNumber(attributes['lines-valid'])
    if (covered !== null && total !== null && total > 0) this.#stated = { covered, total }
    const rate = Number(attributes['line-rate'] || Number.NaN)
    if (rate > 0 && rate <= 1 && total !== 0) this.#rate = rate
  }

  /** The lines of methods are also in the list of their class. */
  #addLine({ number, hits }: XmlAttributes): void {
    const line = lineNumber(number)
    if (line !== null && !this.#isInMethod) this.#lines.add(this.#file, line, Number(hits) > 0)
  }
}
