const WIDTH = 30
const STEPS = 10
const formatCount = new Intl.NumberFormat('en').format

/** How far something long is: a bar that is drawn over itself on a terminal, else a line now and then. */
export class ProgressBar {
  readonly #what: string
  readonly #total: number
  readonly #say: (line: string) => void
  readonly #isDrawn = process.stderr.isTTY === true
  #told = 0

  constructor(what: string, total: number, say: (line: string) => void) {
    this.#what = what
    this.#total = total
    this.#say = say
  }

  /** `done` of the total, which may have grown. */
  reach(done: number): void {
    const share = this.#total === 0 ? 1 : Math.min(1, done / this.#total)
    const text = `${formatCount(done)} of ${formatCount(Math.max(done, this.#total))} ${this.#what}`
    if (this.#isDrawn) {
      const full = Math.round(share * WIDTH)
      process.stderr.write(`\r[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${text}`)
      return
    }
    const step = Math.floor(share * STEPS)
    if (step > this.#told) this.#say(text)
    this.#told = step
  }

  end(): void {
    if (this.#isDrawn) process.stderr.write('\n')
  }
}
