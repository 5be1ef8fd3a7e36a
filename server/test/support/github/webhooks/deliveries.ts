import { createHmac, randomUUID } from 'node:crypto'
import { SeededRandom } from '../../../../src/platform/seeded-random.ts'
import type { State } from '../state.ts'

/** One try to deliver. GitHub gives every try an id of its own; tries share the `guid`. */
export type DeliveryTry = { id: number; at: Date; redelivery: boolean; statusCode: number; status: string }

export type Delivery = {
  guid: string
  event: string
  action: string | null
  installation_id: number | null
  repository_id: number | null
  payload: Record<string, unknown>
  /** Oldest first; empty while the delivery is held. */
  tries: DeliveryTry[]
}

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

/** Sends the webhooks of the App, one after the other, and remembers how each try ended. */
export class Deliveries {
  readonly all: Delivery[] = []
  url: string | null
  /** No try arrives while this is true. */
  broken = false
  readonly #state: State
  #held: Delivery[] = []
  #holding = false
  #last: Promise<void> = Promise.resolve()

  constructor(state: State, url: string | null) {
    this.#state = state
    this.url = url
  }

  add(delivery: Omit<Delivery, 'guid' | 'tries'>): Delivery {
    const added: Delivery = { guid: randomUUID(), ...delivery, tries: [] }
    this.all.push(added)
    if (this.#holding) this.#held.push(added)
    else this.send(added)
    return added
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
    for (const delivery of lost) this.#lose(delivery)
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

  send(delivery: Delivery, redelivery = false): void {
    this.#last = this.#last.then(() => this.#try(delivery, redelivery))
  }

  #sendTogether(deliveries: readonly Delivery[]): void {
    this.#last = this.#last.then(async () => {
      await Promise.all(deliveries.map((delivery) => this.#try(delivery, false)))
    })
  }

  #lose(delivery: Delivery): void {
    this.#record(delivery, false, { statusCode: 504, status: 'timed out' })
  }

  async #try(delivery: Delivery, redelivery: boolean): Promise<void> {
    if (this.url === null) return
    this.#record(delivery, redelivery, await this.#post(delivery, this.url))
  }

  #record(delivery: Delivery, redelivery: boolean, result: { statusCode: number; status: string }): void {
    delivery.tries.push({ id: this.#state.newId(), at: this.#state.clock.now(), redelivery, ...result })
  }

  async #post(delivery: Delivery, url: string): Promise<{ statusCode: number; status: string }> {
    if (this.broken) return { statusCode: 502, status: 'failed to connect to host' }
    const body = JSON.stringify(delivery.payload)
    try {
      const answer = await fetch(url, { method: 'POST', headers: this.headersOf(delivery, body), body })
      await answer.arrayBuffer()
      return { statusCode: answer.status, status: answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}` }
    } catch {
      return { statusCode: 502, status: 'failed to connect to host' }
    }
  }

  /** The headers under which GitHub sends a delivery. */
  headersOf(delivery: Delivery, body = JSON.stringify(delivery.payload)): Record<string, string> {
    const { app } = this.#state
    return {
      'content-type': 'application/json',
      accept: '*/*',
      'user-agent': 'GitHub-Hookshot/fa4e000',
      'x-github-delivery': delivery.guid,
      'x-github-event': delivery.event,
      'x-github-hook-id': '77',
      'x-github-hook-installation-target-id': String(app.id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${createHmac('sha256', app.webhookSecret).update(body).digest('hex')}`,
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
