const WIDTH = 30
const STEPS = 10
const formatCount = new Intl.NumberFormat('en').format

/** Shows progress: as a bar on a terminal, otherwise as one line for each tenth. */
export class ProgressBar {
  readonly #say: (line: string) => void
  readonly #isDrawn = process.stderr.isTTY === true
  #hasBegun = false
  #printedStep = 0

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /** Shows that `done` items are done. It may exceed the total, which is an estimate. */
  reach(done: number, total: number, what: string): void {
    const share = total === 0 ? 1 : Math.min(1, done / total)
    const text = `${formatCount(done)} of ${formatCount(Math.max(done, total))} ${what}`
    if (this.#isDrawn) {
      this.#hasBegun = true
      const full = Math.round(share * WIDTH)
      process.stderr.write(`\r[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${text}`)
      return
    }
    const step = Math.floor(share * STEPS)
    if (step > this.#printedStep) this.#say(text)
    this.#printedStep = step
  }

  end(): void {
    if (this.#hasBegun) process.stderr.write('\n')
  }
}

/** The name of the program on the command line. */
export const PROGRAM = 'shiplock-server'
