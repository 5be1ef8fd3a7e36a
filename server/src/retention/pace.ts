import { setTimeout as delay } from 'node:timers/promises'

/** Thrown when the time of a slice of a retention run is over. The run is unfinished. */
export class SliceOver extends Error {}

/** A run rests for four times as long as it worked: it takes a fifth of one connection's time. */
const REST_PER_WORK = 4

/** Divides a run into batches with pauses, and ends it after some time. */
export class Pace {
  readonly #endsAtMs: number
  readonly #stopping: AbortSignal | undefined
  #workedSinceMs = performance.now()

  constructor(sliceMs: number, stopping: AbortSignal | undefined) {
    this.#endsAtMs = performance.now() + sliceMs
    this.#stopping = stopping
  }

  /** Pauses after a batch. Throws `SliceOver`, or the reason why the worker stops. */
  async rest(): Promise<void> {
    const workedMs = performance.now() - this.#workedSinceMs
    const pause = { signal: this.#stopping } as { signal: AbortSignal }
    await delay(workedMs * REST_PER_WORK, undefined, this.#stopping ? pause : {})
    this.#workedSinceMs = performance.now()
    if (this.#workedSinceMs >= this.#endsAtMs) throw new SliceOver()
  }
}
