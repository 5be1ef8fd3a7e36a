import type { ApiError } from '../../platform/http/api-error.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'

const HELD_MAX = 8
const HELD_OF_NETWORK_MAX = 2
const WAITING_MAX = 100
const WAITING_OF_NETWORK_MAX = 10
const RETRY_SECONDS = 10

type Place = { network: string; grant: () => void }

/** `release` gives the slot back, or leaves the queue; to call it again does nothing. */
export type BodySlot = { granted: Promise<void>; release: () => void }

/**
 * Slots for large bodies that nobody has verified yet. Each network has a share of them and of the
 * queue, so that whoever sends slowly, or much at once, holds up nobody else.
 */
export class BodySlots {
  readonly #held = new Set<Place>()
  readonly #waiting = new Set<Place>()

  /** Throws 503 `unavailable` if too many wait. */
  take(network: string): BodySlot {
    if (this.#waiting.size >= WAITING_MAX || countPlaces(this.#waiting, network) >= WAITING_OF_NETWORK_MAX)
      throw createBusyError()
    const { promise: granted, resolve: grant } = Promise.withResolvers<void>()
    const place = { network, grant }
    this.#waiting.add(place)
    this.#serve()
    return { granted, release: () => this.#release(place) }
  }

  #release(place: Place): void {
    this.#waiting.delete(place)
    if (this.#held.delete(place)) this.#serve()
  }

  /** The network that holds the fewest slots is first; among equals, the one that waits longest. */
  #serve(): void {
    if (this.#held.size >= HELD_MAX) return
    const [next] = [...this.#waiting]
      .map((place) => ({ place, held: countPlaces(this.#held, place.network) }))
      .filter(({ held }) => held < HELD_OF_NETWORK_MAX)
      .sort((one, other) => one.held - other.held)
    if (next === undefined) return
    this.#waiting.delete(next.place)
    this.#held.add(next.place)
    next.place.grant()
  }
}

function countPlaces(places: Iterable<Place>, network: string): number {
  return [...places].filter((place) => place.network === network).length
}

export function createBusyError(): ApiError {
  return serviceUnavailable('Too many large webhooks arrive at once. Try again later.').retryAfter(RETRY_SECONDS)
}
