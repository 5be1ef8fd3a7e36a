import { ReportFileError, readText } from '../file-text.ts'
import type { FoundFile } from '../found-file.ts'
import { LineCoverage, type LineTotals, lineNumber } from './line-coverage.ts'

/** What an lcov tracefile can start with. */
const START = /^(?:TN|SF|VER):/
const LINE_MAX = 1024 * 1024

/**
 * Reads an lcov tracefile (geninfo(1)) line by line. A source file may have several records. The
 * totals `LF` and `LH` of a record count only if it lists no lines. Unknown lines are ignored. Adds
 * to `warnings` what was skipped. Throws ReportFileError.
 */
export async function readLcov(file: FoundFile, warnings: string[]): Promise<LineTotals> {
  const reader = new LcovReader(file.path)
  let rest = ''
  for await (const chunk of readText(file)) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) reader.read(line.trim())
    reader.refuseLongLine(rest)
  }
  reader.read(rest.trim())
  const totals = reader.finish()
  if (reader.skipped !== null) warnings.push(reader.skipped)
  return totals
}

class LcovReader {
  readonly #path: string
  readonly #lines = new LineCoverage()
  readonly #unlisted: LineTotals = { covered: 0, total: 0 }
  /** The source file of the current record; null between records. */
  #file: string | null = null
  #isListed = false
  #stated: LineTotals = { covered: 0, total: 0 }
  #line = 0
  #isStarted = false
  /** Entries whose line number is none, and where the first of them is. */
  #skipped = 0
  #firstSkipped = 0

  constructor(path: string) {
    this.#path = path
  }

  read(line: string): void {
    this.#line++
    if (line === '' || line.startsWith('#')) return
    if (!this.#isStarted && !START.test(line)) throw this.#unexpected(line)
    this.#isStarted = true
    const value = line.slice(line.indexOf(':') + 1)
    if (line.startsWith('DA:')) this.#addLine(value)
    else if (line.startsWith('SF:')) this.#open(value)
    else if (line.startsWith('LF:')) this.#stated.total = this.#total(line, value)
    else if (line.startsWith('LH:')) this.#stated.covered = this.#total(line, value)
    else if (line === 'end_of_record') this.#close()
  }

  finish(): LineTotals {
    if (!this.#isStarted) throw this.#error('expected lcov, found only comments')
    if (this.#file !== null) throw this.#error(`the file ends before the \`end_of_record\` of ${this.#file}`)
    const { covered, total } = this.#lines.totals
    return { covered: covered + this.#unlisted.covered, total: total + this.#unlisted.total }
  }

  get skipped(): string | null {
    if (this.#skipped === 0) return null
    const entries = this.#skipped === 1 ? 'an entry was' : `${this.#skipped} entries were`
    return `${this.#path}:${this.#firstSkipped}: ${entries} skipped, because lines have numbers from 1`
  }

  /** The rest of a chunk that has no line break. */
  refuseLongLine(rest: string): void {
    if (rest.length > LINE_MAX) throw this.#unexpected(rest)
  }

  #total(line: string, value: string): number {
    const total = lineNumber(value)
    if (total === null) throw this.#unexpected(line)
    return total
  }

  #open(file: string): void {
    if (this.#file !== null) this.#close()
    this.#file = file
    this.#isListed = false
    this.#stated = { covered: 0, total: 0 }
  }

  /**
   * `DA:<line>,<hits>[,<checksum>]`. Tools write negative hits and `=====` for lines never run, and
   * line 0, a negative line or `undefined` for code that they cannot place.
   */
  #addLine(value: string): void {
    const [number = '', hits = ''] = value.split(',')
    const file = this.#file
    if (file === null) throw this.#unexpected(`DA:${value}`)
    this.#isListed = true
    const line = lineNumber(number)
    if (line === null || line === 0) this.#skip()
    else this.#lines.add(file, line, Number(hits) > 0)
  }

  #skip(): void {
    this.#skipped++
    if (this.#skipped === 1) this.#firstSkipped = this.#line
  }

  #close(): void {
    if (this.#file !== null && !this.#isListed) {
      this.#unlisted.covered += Math.min(this.#stated.covered, this.#stated.total)
      this.#unlisted.total += this.#stated.total
    }
    this.#file = null
  }

  #unexpected(line: string): ReportFileError {
    const found = JSON.stringify(line.slice(0, 60))
    return this.#error(`expected a line of lcov such as \`SF:src/a.c\` or \`DA:12,1\`, found ${found}`)
  }

  #error(message: string): ReportFileError {
    return new ReportFileError({ path: this.#path, line: this.#line }, message)
  }
}
