/** Covered lines of all lines that can be covered. */
export type LineTotals = { covered: number; total: number }

/**
 * The percentage with two decimals. It is never rounded up to a whole percent, so that 79.999 does
 * not reach a threshold of 80. Without lines it is 0, because nothing shows that the code is tested.
 */
export function percentOf({ covered, total }: LineTotals): number {
  if (total <= 0) return 0
  const percent = (Math.min(covered, total) * 100) / total
  const rounded = Math.round(percent * 100) / 100
  return Number.isInteger(rounded) && rounded > percent ? Math.floor(percent * 100) / 100 : rounded
}

const PAGE_LINES = 256
const UNCOVERED = 1
const COVERED = 2

/**
 * The lines of the files of a report. A line that appears several times counts once, as covered if
 * one of them is. Takes about one byte per line.
 */
export class LineCoverage {
  readonly #files = new Map<string, Map<number, Uint8Array>>()
  #covered = 0
  #total = 0

  add(file: string, line: number, isCovered: boolean): void {
    const page = this.#page(file, Math.floor(line / PAGE_LINES))
    const known = page[line % PAGE_LINES]
    if (known === 0) this.#total++
    if (isCovered && known !== COVERED) this.#covered++
    if (isCovered || known === 0) page[line % PAGE_LINES] = isCovered ? COVERED : UNCOVERED
  }

  get totals(): LineTotals {
    return { covered: this.#covered, total: this.#total }
  }

  #page(file: string, number: number): Uint8Array {
    const pages = this.#files.get(file) ?? new Map<number, Uint8Array>()
    const page = pages.get(number) ?? new Uint8Array(PAGE_LINES)
    this.#files.set(file, pages.set(number, page))
    return page
  }
}

/** A number of lines, or the number of a line; null if the text is not one. */
export function lineNumber(text: string | undefined): number | null {
  const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isSafeInteger(number) && number >= 0 ? number : null
}
