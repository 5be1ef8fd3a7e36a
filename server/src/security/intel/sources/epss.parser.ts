import { isCveId } from '../../vocabulary/vulnerability-id.ts'
import { IntelError } from '../intel-error.ts'
import { calendarDateOf } from './calendar-date.ts'
import type { SourceFacts } from './intel-source.ts'
import { textLines } from './text-lines.ts'

export type EpssScore = { cve_id: string; score: number; percentile: number }

const HEADER = 'cve,epss,percentile'
const SCORES_MAX = 5_000_000

/**
 * Reads the daily scores of FIRST's EPSS (first.org/epss/data_stats): a first line `#model_version:…,score_date:…`, the
 * header, and a line a CVE. Yields the scores in batches and returns what the file says of itself. Throws IntelError,
 * possibly after batches.
 */
export async function* parseEpss(source: AsyncIterable<Uint8Array>): AsyncGenerator<EpssScore[], SourceFacts> {
  const file = new EpssFile()
  for await (const lines of textLines(source)) {
    const scores = lines.flatMap((line) => file.read(line))
    if (scores.length > 0) yield scores
  }
  return file.facts()
}

class EpssFile {
  #line = 0
  #facts: SourceFacts | null = null
  readonly #seen = new Set<string>()

  read(text: string): EpssScore[] {
    this.#line += 1
    if (this.#line === 1) this.#facts = this.#readFacts(text)
    else if (this.#line === 2) this.#requireHeader(text)
    else if (text !== '') return [this.#readScore(text)]
    return []
  }

  facts(): SourceFacts {
    if (this.#facts === null || this.#seen.size === 0) throw new IntelError('The file holds no scores.')
    return this.#facts
  }

  #readFacts(text: string): SourceFacts {
    const date = calendarDateOf(/[#,]score_date:(\d{4}-\d{2}-\d{2})/.exec(text)?.[1])
    if (date === null) throw this.#error('it must name the score_date, as in #model_version:…,score_date:…')
    return { version: /[#,]model_version:([\w.-]{1,50})/.exec(text)?.[1] ?? null, as_of: new Date(`${date}T00:00:00Z`) }
  }

  #requireHeader(text: string): void {
    if (text !== HEADER) throw this.#error(`it must be the header ${HEADER}`)
  }

  #readScore(text: string): EpssScore {
    const [id, score, percentile, ...more] = text.split(',')
    if (!isCveId(id) || more.length > 0) throw this.#error('it must be a CVE id, a score and a percentile')
    if (this.#seen.has(id)) throw this.#error(`${id} is there twice`)
    if (this.#seen.size >= SCORES_MAX) throw this.#error(`more than ${SCORES_MAX} scores`)
    this.#seen.add(id)
    return { cve_id: id, score: this.#fraction(score), percentile: this.#fraction(percentile) }
  }

  #fraction(text = ''): number {
    const value = /^\d/.test(text) ? Number(text) : Number.NaN
    if (!(value >= 0 && value <= 1)) throw this.#error(`"${text.slice(0, 40)}" is no number from 0 to 1`)
    return value
  }

  #error(reason: string): IntelError {
    return new IntelError(`Line ${this.#line}: ${reason}.`)
  }
}
