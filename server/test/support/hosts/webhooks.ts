import { Deliveries, type Message, type Sendable } from './deliveries.ts'
import type { World } from './world.ts'

/** A webhook that the program registered through the API of the host. */
export type Hook = {
  id: number
  uuid: string
  url: string
  secret: string
  /** The host's own names of the events that it wants. */
  events: Set<string>
  active: boolean
  /** What it covers, in the words of the host: `group 12`, a repository's UUID, a project's id. */
  scope: string
  created_at: Date
  updated_at: Date
  /** Everything else that was sent when it was made, for the answers of the host. */
  settings: Record<string, unknown>
}

/** One payload for one webhook. */
export type HookDelivery = Sendable & { guid: string; hook: Hook; payload: unknown }

/** How a host writes a delivery: its headers with the signature or secret. */
export type SignDelivery = (delivery: HookDelivery, body: string) => Record<string, string>

/**
 * The webhooks of a host that were registered through its API, and what they were sent.
 * `serialize` writes JSON as the host does.
 */
export class Webhooks extends Deliveries<HookDelivery> {
  readonly hooks: Hook[] = []
  /** A webhook that failed so often in a row is disabled. */
  failuresMax = Number.POSITIVE_INFINITY
  readonly #failures = new Map<Hook, number>()
  readonly #world: World
  readonly #sign: SignDelivery
  readonly #serialize: (value: unknown) => string

  constructor(world: World, sign: SignDelivery, serialize: (value: unknown) => string = JSON.stringify) {
    super()
    this.#world = world
    this.#sign = sign
    this.#serialize = serialize
  }

  addHook(fields: Pick<Hook, 'url' | 'secret' | 'scope'> & { events: Iterable<string>; settings?: object }): Hook {
    const at = this.#world.now()
    const { url, secret, scope, events, settings = {} } = fields
    const made = { url, secret, scope, events: new Set(events), settings: { ...settings } }
    const hook: Hook = { ...this.#world.newIds(), ...made, active: true, created_at: at, updated_at: at }
    this.hooks.push(hook)
    return hook
  }

  removeHook(hook: Hook): void {
    this.hooks.splice(this.hooks.indexOf(hook), 1)
  }

  /** Sends an event to every webhook of these scopes that wants it. */
  emit(event: string, scopes: readonly string[], payload: unknown): void {
    const wanting = this.hooks.filter(
      ({ active, events, scope }) => active && events.has(event) && scopes.includes(scope),
    )
    for (const hook of wanting) {
      const copy = JSON.parse(this.#serialize(payload)) as unknown
      this.take({ guid: this.#world.newIds().uuid, hook, event, payload: copy, tries: [] })
    }
  }

  /** Sends a payload to one webhook, whatever it wants, and answers the status that came back. */
  async sendTo(hook: Hook, event: string, payload: unknown): Promise<number> {
    const delivery = this.take({ guid: this.#world.newIds().uuid, hook, event, payload, tries: [] })
    await this.settled()
    return delivery.tries.at(-1)?.statusCode ?? 0
  }

  protected override tried({ hook, tries }: HookDelivery): void {
    const { statusCode = 0 } = tries.at(-1) ?? {}
    const failures = statusCode >= 200 && statusCode <= 299 ? 0 : (this.#failures.get(hook) ?? 0) + 1
    this.#failures.set(hook, failures)
    if (failures >= this.failuresMax) hook.active = false
  }

  protected messageOf(delivery: HookDelivery): Message {
    const body = JSON.stringify(delivery.payload)
    const headers = { 'content-type': 'application/json', ...this.#sign(delivery, body) }
    return { url: delivery.hook.url, headers, body }
  }

  protected newTry() {
    return { id: this.#world.newIds().id, at: this.#world.now() }
  }
}
