import { setTimeout as delay } from 'node:timers/promises'
import { Channel } from './channel.ts'
import { Query } from './query.ts'
import type { Target } from './target.ts'
import { formatIdentifier } from './template.ts'

type Subscriber = { notify(payload: string): void; listening(): void }
export type Subscription = { unlisten(): Promise<void> }

const RECONNECT_MS_MAX = 500

/** A connection of its own that receives notifications. It is opened again when it is lost. */
export class Listener {
  readonly #target: () => Target
  readonly #subscribers = new Map<string, Set<Subscriber>>()
  #channel: Promise<Channel> | null = null
  #isReconnecting = false
  #isEnded = false

  constructor(target: () => Target) {
    this.#target = target
  }

  /**
   * Resolves when notifications arrive. `listening` is called then, and each time that they arrive
   * again after some may have been lost.
   */
  async listen(name: string, notify: (payload: string) => void, listening: () => void): Promise<Subscription> {
    const subscriber = { notify, listening }
    const subscribers = this.#subscribers.get(name) ?? new Set()
    this.#subscribers.set(name, subscribers.add(subscriber))
    try {
      await send(await this.#open(), `listen ${formatIdentifier(name)}`)
    } catch (error) {
      this.#remove(name, subscriber)
      throw error
    }
    listening()
    return { unlisten: () => this.#unlisten(name, subscriber) }
  }

  async #unlisten(name: string, subscriber: Subscriber): Promise<void> {
    if (!this.#remove(name, subscriber) || this.#channel === null) return
    // A lost connection listens to nothing.
    await this.#channel.then((channel) => send(channel, `unlisten ${formatIdentifier(name)}`)).catch(() => {})
  }

  /** Whether nobody else listens. */
  #remove(name: string, subscriber: Subscriber): boolean {
    const subscribers = this.#subscribers.get(name)
    if (!subscribers?.delete(subscriber) || subscribers.size > 0) return false
    return this.#subscribers.delete(name)
  }

  #open(): Promise<Channel> {
    this.#channel ??= this.#connect().catch((error) => {
      this.#channel = null
      throw error
    })
    return this.#channel
  }

  async #connect(): Promise<Channel> {
    const channel = new Channel(this.#target(), {
      lost: () => void this.#reconnect(),
      notified: (name, payload) => {
        for (const { notify } of this.#subscribers.get(name) ?? []) notify(payload)
      },
    })
    await channel.connect()
    return channel
  }

  async #reconnect(): Promise<void> {
    this.#channel = null
    if (this.#isReconnecting) return
    this.#isReconnecting = true
    for (let failures = 0; !this.#isEnded && this.#subscribers.size > 0; failures += 1) {
      if (await this.#listenAgain().catch(() => false)) break
      await delay(Math.min(10 * 2 ** failures, RECONNECT_MS_MAX))
    }
    this.#isReconnecting = false
  }

  async #listenAgain(): Promise<true> {
    const channel = await this.#open()
    const names = [...this.#subscribers.keys()]
    await Promise.all(names.map((name) => send(channel, `listen ${formatIdentifier(name)}`)))
    for (const name of names) for (const { listening } of this.#subscribers.get(name) ?? []) listening()
    return true
  }

  async end(): Promise<void> {
    this.#isEnded = true
    this.#subscribers.clear()
    const channel = await this.#channel?.catch(() => null)
    channel?.destroy()
  }
}

async function send(channel: Channel, text: string): Promise<void> {
  await new Query({ strings: [text], values: [] }, 'simple', (query) => channel.run(query))
}
