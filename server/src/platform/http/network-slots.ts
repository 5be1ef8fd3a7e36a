import type { ApiError } from './api-error.ts'

/** How many places a network and all of them have. */
type Shares = {
  heldMax: number
  heldOfNetworkMax: number
  waitingMax: number
  waitingOfNetworkMax: number
  /** What those get whom the queue has no place for. */
  createBusyError: () => ApiError
}

type Place = { network: string; grant: () => void; refuse: (error: ApiError) => void }

/**
 * `granted` fails if the queue fills and the network has the most places in it. `release` gives the
 * slot back, or leaves the queue; to call it again does nothing.
 */
export type NetworkSlot = { granted: Promise<void>; release: () => void }

/**
 * Slots for costly work that anybody may ask for. Each network has a share of them and of the
 * queue, so that whoever is slow, or asks for much at once, holds up nobody else. Many networks can
 * fill the queue together: then those with the most places give some up.
 */
export class NetworkSlots {
  readonly #shares: Shares
  readonly #held = new Set<Place>()
  readonly #waiting = new Set<Place>()

  constructor(shares: Shares) {
    this.#shares = shares
  }

  /** Throws the error of `createBusyError` if too many wait. */
  take(network: string): NetworkSlot {
    const { waitingMax, waitingOfNetworkMax, createBusyError } = this.#shares
    if (countPlaces(this.#waiting, network) >= waitingOfNetworkMax) throw createBusyError()
    if (this.#waiting.size >= waitingMax) this.#makePlace(network)
    const { promise: granted, resolve: grant, reject: refuse } = Promise.withResolvers<void>()
    const place = { network, grant, refuse }
    this.#waiting.add(place)
    this.#serve()
    return { granted, release: () => this.#release(place) }
  }

  /** Works while it has a slot. Throws as `take`. */
  async run<Result>(network: string, work: () => Promise<Result>): Promise<Result> {
    const slot = this.take(network)
    await slot.granted
    try {
      return await work()
    } finally {
      slot.release()
    }
  }

  /** Refuses the newest place of the network with the most; the newcomer, if theirs has as many. */
  #makePlace(newcomer: string): void {
    const counts = new Map<string, number>()
    for (const { network } of this.#waiting) counts.set(network, (counts.get(network) ?? 0) + 1)
    const [[largest, most]] = [...counts].sort(([, one], [, other]) => other - one) as [[string, number]]
    const error = this.#shares.createBusyError()
    if (most <= (counts.get(newcomer) ?? 0) + 1) throw error
    const newest = [...this.#waiting].findLast(({ network }) => network === largest) as Place
    this.#waiting.delete(newest)
    newest.refuse(error)
  }

  #release(place: Place): void {
    this.#waiting.delete(place)
    if (this.#held.delete(place)) this.#serve()
  }

  /** The network that holds the fewest slots is first; among equals, the one that waits longest. */
  #serve(): void {
    const { heldMax, heldOfNetworkMax } = this.#shares
    if (this.#held.size >= heldMax) return
    const [next] = [...this.#waiting]
      .map((place) => ({ place, held: countPlaces(this.#held, place.network) }))
      .filter(({ held }) => held < heldOfNetworkMax)
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
