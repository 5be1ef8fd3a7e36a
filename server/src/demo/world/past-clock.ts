import type { Clock } from '../../platform/clock.ts'

/** A clock that shows the time of what is told, and never goes back. */
export class PastClock implements Clock {
  #now: Date

  constructor(start: Date) {
    this.#now = start
  }

  now(): Date {
    return this.#now
  }

  /** Advances the clock to a time. An earlier time leaves it as it is. */
  advance(to: Date): void {
    if (to > this.#now) this.#now = to
  }
}
