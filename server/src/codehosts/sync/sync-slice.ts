import type { Clock } from '../../platform/clock.ts'

/**
 * How long one job works on a synchronization. Then it queues the next one, behind the jobs that
 * wait: a long import does not hold up other jobs.
 */
const SLICE_MS = 5000

/** The time in which one job works on a synchronization. */
export class SyncSlice {
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #stopping: AbortSignal | undefined
  #ended = false
  /** True when something was read or stored in this slice. */
  progressed = false

  constructor(clock: Clock, stopping: AbortSignal | undefined) {
    this.#clock = clock
    this.#endsAt = clock.now().getTime() + SLICE_MS
    this.#stopping = stopping
  }

  /** True when nothing more is to be started: its time is over, or the worker stops. */
  get isOver(): boolean {
    return this.#ended || this.#stopping?.aborted === true || this.#clock.now().getTime() >= this.#endsAt
  }

  /** Ends the slice early, after a failure that concerns everything. */
  end(): void {
    this.#ended = true
  }

  /** Throws if the worker stops, so that the job goes back to the queue. */
  throwIfStopping(): void {
    this.#stopping?.throwIfAborted()
  }
}
