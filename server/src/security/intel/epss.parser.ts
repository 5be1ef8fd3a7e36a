import { isCveId } from '../vocabulary/vulnerability-id.ts'
import { type FileFacts, FileRows, IntelError, parseDate, type ReadFile } from './intel-file.ts'

export type EpssScore = { cve_id: string; score: number; percentile: number }

const HEADER = 'cve,epss,percentile'
const SCORES_MAX = 5_000_000

/**
 * Reads a day's scores of FIRST's EPSS (first.org/epss/data_stats): a first line
 * `#model_version:…,score_date:…`, a header, and one line per CVE. Yields scores in batches and
 * returns the file's version and date. A line that cannot be read is skipped. Throws IntelError,
 * possibly after some batches.
 */
export async function* parseEpss(source: AsyncIterable<Uint8Array>): AsyncGenerator<EpssScore[], ReadFile> {
  const file = new EpssFile()
  for await (const lines of textLines(source)) {
    const scores = lines.flatMap((line) => file.read(line))
    if (scores.length > 0) yield scores
  }
  return file.facts()
}

class EpssFile {
  #line = 0
  #facts: FileFacts | null = null
  readonly #seen = new Set<string>()
  readonly #rows = new FileRows()

  read(text: string): EpssScore[] {
    this.#line += 1
    if (this.#line === 1) this.#facts = this.#readFacts(text)
    else if (this.#line === 2) this.#requireHeader(text)
    else if (text !== '') return this.#rows.read(() => this.#readScore(text))
    return []
  }

  facts(): ReadFile {
    if (this.#facts === null) throw new IntelError('The file contains no scores.')
    return { ...this.#facts, ...this.#rows.finish('scores') }
  }

  #readFacts(text: string): FileFacts {
    const date = parseDate(/[#,]score_date:(\d{4}-\d{2}-\d{2})/.exec(text)?.[1])
    if (date === null) throw this.#error('expected a score_date, as in #model_version:…,score_date:…')
    return { version: /[#,]model_version:([\w.-]{1,50})/.exec(text)?.[1] ?? null, as_of: new Date(`${date}T00:00:00Z`) }
  }

  #requireHeader(text: string): void {
    if (text !== HEADER) throw this.#error(`expected the header ${HEADER}`)
  }

  #readScore(text: string): EpssScore {
    const [id, score, percentile, ...more] = text.split(',')
    if (!isCveId(id) || more.length > 0) throw this.#error('expected a CVE id, a score and a percentile')
    if (this.#seen.has(id)) throw this.#error(`${id} is listed twice`)
    if (this.#seen.size >= SCORES_MAX) throw this.#error(`the file contains more than ${SCORES_MAX} scores`)
    const row = { cve_id: id, score: this.#fraction(score), percentile: this.#fraction(percentile) }
    this.#seen.add(id)
    return row
  }

  #fraction(text = ''): number {
    const value = /^\d/.test(text) ? Number(text) : Number.NaN
    if (!(value >= 0 && value <= 1)) throw this.#error(`"${text.slice(0, 40)}" is not a number from 0 to 1`)
    return value
  }

  #error(reason: string): IntelError {
    return new IntelError(`Line ${this.#line}: ${reason}.`)
  }
}

const LINE_CHARS_MAX = 10_000

/**
 * The lines of a UTF-8 text, without line ends and byte order mark, in batches: one batch per chunk
 * that completes a line.
 */
async function* textLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of source) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LINE_CHARS_MAX) throw new IntelError(`A line is longer than ${LINE_CHARS_MAX} characters.`)
    if (lines.length > 0) yield lines.map(withoutReturn)
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
