import { setTimeout as delay } from 'node:timers/promises'
import { Channel } from './channel.ts'
import { ConnectionError } from './connection-error.ts'
import { Query } from './query.ts'
import type { Target } from './target.ts'

type PoolOptions = {
  max: number
  /** Called for each connection, because the server can change. */
  target(): Target
  /** How long to wait for a server that is not a standby; 0 if it can be one. */
  primaryMs: number
  /** Connections stay open, instead of being replaced after half an hour to an hour. */
  isLasting: boolean
  exclusive?(change: 1 | -1): void
  noticed?: ((message: string) => void) | undefined
  closed?: (() => void) | undefined
}

type Exclusive = { take(channel: Channel): void; fail(error: Error): void }
type Waiting = Query<unknown> | Exclusive

const LIFETIME_MS_MIN = 30 * 60_000
const RECONNECT_MS_MIN = 10
const RECONNECT_MS_MAX = 500
const STANDBY_POLL_MS = 100

/**
 * Connections that are opened when they are needed. When all are in use, statements are sent on one
 * that is not exclusive, without waiting for the answers to earlier ones.
 */
export class Pool {
  readonly #options: PoolOptions
  readonly #channels = new Set<Channel>()
  /** Those of `#channels` that can be given away. The last one was used last. */
  readonly #idle: Channel[] = []
  readonly #opening = new Set<Channel>()
  readonly #waiting: Waiting[] = []
  #connecting = 0
  #failures = 0
  #failedAt = Number.NEGATIVE_INFINITY
  #ended: Promise<void> | null = null
  #isDestroyed = false
  #onChange = () => {}

  constructor(options: PoolOptions) {
    this.#options = options
  }

  run(query: Query<unknown>): void {
    if (this.#ended) return void query.fail(this.#failure('CONNECTION_ENDED'))
    this.#waiting.push(query)
    this.#dispatch()
  }

  /** A connection for exclusive use, until it is released. */
  acquire(): Promise<Channel> {
    if (this.#ended) return Promise.reject(this.#failure('CONNECTION_ENDED'))
    const { promise, resolve, reject } = Promise.withResolvers<Channel>()
    this.#waiting.push({ take: resolve, fail: reject })
    this.#dispatch()
    return promise
  }

  release(channel: Channel): void {
    this.#options.exclusive?.(-1)
    channel.isExclusive = false
    channel.onLost = null
    if (channel.isIdle) this.#idled(channel)
  }

  #failure(code: 'CONNECTION_ENDED' | 'CONNECTION_DESTROYED'): Error {
    return new ConnectionError(code, this.#options.target().config.host)
  }

  #dispatch(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const channel = this.#idle.pop()
      if (channel !== undefined) this.#give(next, channel)
      else if (this.#channels.size + this.#connecting < this.#options.max) void this.#openFor(next)
      else if (!this.#share(next)) return
      this.#waiting.shift()
    }
  }

  #give(waiting: Waiting, channel: Channel): void {
    if (waiting instanceof Query) return void channel.run(waiting)
    channel.isExclusive = true
    this.#options.exclusive?.(1)
    waiting.take(channel)
  }

  #share(waiting: Waiting): boolean {
    if (!(waiting instanceof Query)) return false
    let least: Channel | undefined
    for (const channel of this.#channels)
      if (channel.isShareable && (least === undefined || channel.inFlight < least.inFlight)) least = channel
    least?.run(waiting)
    return least !== undefined
  }

  async #openFor(waiting: Waiting): Promise<void> {
    this.#connecting += 1
    try {
      const channel = await this.#connect()
      this.#failures = 0
      this.#channels.add(channel)
      this.#give(waiting, channel)
    } catch (error) {
      this.#failures += 1
      this.#failedAt = performance.now()
      waiting.fail(error as Error)
    } finally {
      this.#connecting -= 1
    }
    this.#dispatch()
    this.#onChange()
  }

  async #connect(): Promise<Channel> {
    if (this.#failures > 0) {
      const backoff = Math.min(RECONNECT_MS_MIN * 2 ** this.#failures, RECONNECT_MS_MAX)
      await delay(this.#failedAt + backoff - performance.now())
    }
    const until = performance.now() + this.#options.primaryMs
    for (;;) {
      const channel = await this.#connectOnce()
      if (this.#options.primaryMs === 0 || !channel.isStandby) {
        this.#limitLifetime(channel)
        return channel
      }
      await channel.close()
      if (performance.now() > until) throw new ConnectionError('CONNECT_TIMEOUT', channel.address)
      await delay(STANDBY_POLL_MS)
    }
  }

  async #connectOnce(): Promise<Channel> {
    const target = this.#options.target()
    try {
      return await this.#open(target)
    } catch (error) {
      if (!target.isTlsOptional || !(error as Error).message.includes('does not support SSL')) throw error
      return this.#open({ ...target, config: { ...target.config, ssl: false } })
    }
  }

  async #open(target: Target): Promise<Channel> {
    if (this.#isDestroyed) throw this.#failure('CONNECTION_DESTROYED')
    const channel = new Channel(target, {
      idle: (idle) => this.#idled(idle),
      lost: (lost) => this.#lost(lost),
      noticed: this.#options.noticed,
    })
    this.#opening.add(channel)
    await channel.connect().finally(() => this.#opening.delete(channel))
    return channel
  }

  #limitLifetime(channel: Channel): void {
    if (this.#options.isLasting) return
    const expire = () => {
      channel.isExpired = true
      const at = this.#idle.indexOf(channel)
      if (at < 0) return
      this.#idle.splice(at, 1)
      this.#close(channel)
    }
    channel.expiry = setTimeout(expire, LIFETIME_MS_MIN * (1 + Math.random())).unref()
  }

  #idled(channel: Channel): void {
    if (channel.isExclusive || !this.#channels.has(channel)) return
    if (channel.isExpired) this.#close(channel)
    else {
      this.#idle.push(channel)
      this.#dispatch()
    }
    this.#onChange()
  }

  #close(channel: Channel): void {
    void channel.close()
  }

  #lost(channel: Channel): void {
    clearTimeout(channel.expiry)
    if (!this.#channels.delete(channel)) return
    const at = this.#idle.indexOf(channel)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#options.closed?.()
    this.#dispatch()
    this.#onChange()
  }

  /**
   * Ends the connections when what is in progress has ended, or else after a time in seconds. No
   * new statement is accepted.
   */
  end({ timeout }: { timeout?: number } = {}): Promise<void> {
    this.#ended ??= timeout === undefined ? this.#drain() : this.#drainWithin(timeout * 1000)
    return this.#ended
  }

  async #drain(): Promise<void> {
    while (this.#channels.size + this.#connecting + this.#waiting.length > 0) {
      for (const channel of this.#idle.splice(0)) this.#close(channel)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onChange = resolve
      await promise
    }
  }

  async #drainWithin(ms: number): Promise<void> {
    const drained = new AbortController()
    const late = delay(ms, undefined, drained).then(() => this.#destroy())
    await Promise.race([this.#drain(), late])
    drained.abort()
    await late.catch(() => {})
  }

  #destroy(): void {
    this.#isDestroyed = true
    for (const waiting of this.#waiting.splice(0)) waiting.fail(this.#failure('CONNECTION_DESTROYED'))
    for (const channel of [...this.#channels, ...this.#opening]) channel.destroy()
  }
}
