import { createHmac, randomUUID } from 'node:crypto'
import { Deliveries, type Message, type Sendable } from '../../hosts/deliveries.ts'
import type { GitHubWorld } from '../world.ts'

/** GitHub gives every try an id of its own; tries share the `guid`. */
export type Delivery = Sendable & {
  guid: string
  action: string | null
  installation_id: number | null
  repository_id: number | null
  payload: Record<string, unknown>
}

/** The webhooks of the App. */
export class AppDeliveries extends Deliveries<Delivery> {
  url: string | null
  /** Events that GitHub neither sends nor lists: it promises to send none. */
  readonly forgotten = new Set<string>()
  readonly #world: GitHubWorld

  constructor(world: GitHubWorld, url: string | null) {
    super()
    this.#world = world
    this.url = url
  }

  add(delivery: Omit<Delivery, 'guid' | 'tries'>): void {
    if (!this.forgotten.has(delivery.event)) this.take({ guid: randomUUID(), ...delivery, tries: [] })
  }

  protected messageOf(delivery: Delivery): Message | null {
    if (this.url === null) return null
    const body = JSON.stringify(delivery.payload)
    return { url: this.url, headers: this.headersOf(delivery, body), body }
  }

  protected newTry() {
    return { id: this.#world.newIds().id, at: this.#world.now() }
  }

  /**
   * The headers under which GitHub sends a delivery
   * (https://docs.github.com/webhooks/webhook-events-and-payloads, "Delivery headers").
   */
  headersOf(delivery: Delivery, body = JSON.stringify(delivery.payload)): Record<string, string> {
    const { app } = this.#world
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
