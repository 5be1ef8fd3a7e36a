import { SeededRandom } from '../../../src/platform/seeded-random.ts'

export type TryResult = { statusCode: number; status: string }

/** One try to deliver. */
export type DeliveryTry = TryResult & { id: number; at: Date; redelivery: boolean }

export type Sendable = {
  event: string
  /** Oldest first; empty while the delivery is held. */
  tries: DeliveryTry[]
}

/** What is sent. It is made for each try, because secrets and addresses can change meanwhile. */
export type Message = { url: string; headers: Record<string, string>; body: string }

export type ReleaseOptions = {
  /** Sends the held deliveries in an order that depends on this seed. */
  shuffle?: number
  /** Sends each delivery two times, at once or later. */
  twice?: boolean
  /** Sends all at once instead of one after the other. */
  together?: boolean
  /** The share of deliveries that do not arrive, 0 to 1; `seed` decides which. */
  lose?: number
  seed?: number
}

/** Sends the webhooks of a host, one after the other, and remembers how each try ended. */
export abstract class Deliveries<Delivery extends Sendable> {
  readonly all: Delivery[] = []
  /** No try arrives while this is true. */
  broken = false
  #held: Delivery[] = []
  #holding = false
  #last: Promise<void> = Promise.resolve()

  /** Null if it is not sent at all. */
  protected abstract messageOf(delivery: Delivery): Message | null
  /** The id and the time of a try. */
  protected abstract newTry(): { id: number; at: Date }
  /** After each try, the lost ones included. */
  protected tried(_delivery: Delivery): void {}

  /** Sends a delivery, or keeps it back. */
  protected take(delivery: Delivery): Delivery {
    this.all.push(delivery)
    if (this.#holding) this.#held.push(delivery)
    else this.send(delivery)
    return delivery
  }

  /** Keeps the next deliveries back until `release`. */
  hold(): void {
    this.#holding = true
  }

  /** Sends what was held, and everything later at once. Resolves when all has been sent. */
  async release(options: ReleaseOptions = {}): Promise<void> {
    const { shuffle, twice = false, together = false, lose = 0, seed = 1 } = options
    const random = new SeededRandom(shuffle ?? seed)
    const lost = new Set(this.#held.filter(() => random.next() < lose))
    const sent = twice ? [...this.#held, ...this.#held] : this.#held
    const arriving = (shuffle === undefined ? sent : shuffled(sent, random)).filter((one) => !lost.has(one))
    for (const delivery of lost) this.#record(delivery, false, { statusCode: 504, status: 'timed out' })
    if (together) this.#sendTogether(arriving)
    else for (const delivery of arriving) this.send(delivery)
    this.#held = []
    this.#holding = false
    await this.settled()
  }

  /** Resolves when everything that was to be sent has been sent. */
  async settled(): Promise<void> {
    let last: Promise<void>
    do {
      last = this.#last
      await last
    } while (last !== this.#last)
  }

  /** The deliveries that were sent, and that no try delivered. */
  get failed(): Delivery[] {
    return this.all.filter(
      ({ tries }) => tries.length > 0 && tries.every(({ statusCode }) => statusCode < 200 || statusCode > 299),
    )
  }

  send(delivery: Delivery, redelivery = false): void {
    this.#last = this.#last.then(() => this.#try(delivery, redelivery))
  }

  #sendTogether(deliveries: readonly Delivery[]): void {
    this.#last = this.#last.then(async () => {
      await Promise.all(deliveries.map((delivery) => this.#try(delivery, false)))
    })
  }

  async #try(delivery: Delivery, redelivery: boolean): Promise<void> {
    const message = this.messageOf(delivery)
    if (message !== null) this.#record(delivery, redelivery, await this.#post(message))
  }

  #record(delivery: Delivery, redelivery: boolean, result: TryResult): void {
    delivery.tries.push({ ...this.newTry(), redelivery, ...result })
    this.tried(delivery)
  }

  async #post({ url, headers, body }: Message): Promise<TryResult> {
    if (this.broken) return { statusCode: 502, status: 'failed to connect to host' }
    try {
      const answer = await fetch(url, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      return { statusCode: answer.status, status: answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}` }
    } catch {
      return { statusCode: 502, status: 'failed to connect to host' }
    }
  }
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const result = [...items]
  for (let end = result.length - 1; end > 0; end -= 1) {
    const other = random.below(end + 1)
    const kept = result[end] as T
    result[end] = result[other] as T
    result[other] = kept
  }
  return result
}
