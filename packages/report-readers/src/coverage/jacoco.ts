import type { XmlAttributes, XmlReader } from '../read-xml.ts'
import { type LineTotals, lineNumber } from './line-coverage.ts'

/**
 * Reads a JaCoCo report. The `LINE` counter of the report counts; without one, those of its outermost
 * groups and packages.
 */
export class JacocoReader implements XmlReader {
  readonly format = 'jacoco'
  #report: LineTotals | null = null
  #parts: LineTotals | null = null
  /** The depth of the counters that were added to the parts. */
  #partsDepth = Number.POSITIVE_INFINITY
  #hasOtherCounters = false

  open(name: string, attributes: XmlAttributes, depth: number): void {
    if (name !== 'counter') return
    if (attributes.type !== 'LINE') this.#hasOtherCounters = true
    else if (depth === 1) this.#report = counterOf(attributes)
    else this.#addPart(counterOf(attributes), depth)
  }

  totals(): LineTotals | string {
    const totals = this.#report ?? this.#parts
    if (totals !== null) return totals
    if (!this.#hasOtherCounters) return { covered: 0, total: 0 }
    return 'the JaCoCo report has no LINE counters; compile the classes with debug information'
  }

  /** The counters of classes come before those of their package, which include them. */
  #addPart(counter: LineTotals, depth: number): void {
    if (depth > this.#partsDepth) return
    const isOuter = depth < this.#partsDepth || this.#parts === null
    const known = isOuter || this.#parts === null ? { covered: 0, total: 0 } : this.#parts
    this.#parts = { covered: known.covered + counter.covered, total: known.total + counter.total }
    this.#partsDepth = depth
  }
}

function counterOf({ missed, covered }: XmlAttributes): LineTotals {
  const hits = lineNumber(covered) ?? 0
  return { covered: hits, total: hits + (lineNumber(missed) ?? 0) }
}
