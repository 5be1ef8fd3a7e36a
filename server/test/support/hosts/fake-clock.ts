/** The time of a fake host: the real time, until a test sets or moves it. */
export class FakeClock {
  readonly #resolutionMs: number
  #fixed: Date | null = null

  /** Times are multiples of `resolutionMs`: GitHub's are whole seconds. */
  constructor(resolutionMs = 1) {
    this.#resolutionMs = resolutionMs
  }

  now(): Date {
    const date = this.#fixed ?? new Date()
    return new Date(Math.floor(date.getTime() / this.#resolutionMs) * this.#resolutionMs)
  }

  set(date: Date): void {
    this.#fixed = date
  }

  advance(seconds: number): void {
    this.#fixed = new Date(this.now().getTime() + seconds * 1000)
  }
}
