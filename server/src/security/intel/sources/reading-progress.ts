/** Takes the lines that tell how far an import is. */
export type Tell = (line: string) => void

const TOLD_EVERY = 50_000
const formatCount = new Intl.NumberFormat('en').format

/** Tells what was read so far, now and then: `Read 300,000 EPSS scores`. */
export class ReadingProgress {
  readonly #what: string
  readonly #tell: Tell
  #records = 0
  #told = 0

  constructor(what: string, tell: Tell) {
    this.#what = what
    this.#tell = tell
  }

  get records(): number {
    return this.#records
  }

  add(records: number): void {
    this.#records += records
    if (this.#records - this.#told < TOLD_EVERY) return
    this.#told = this.#records
    this.#tell(`Read ${formatCount(this.#records)} ${this.#what}`)
  }

  finished(): void {
    this.#tell(`Read all ${formatCount(this.#records)} ${this.#what}`)
  }
}
