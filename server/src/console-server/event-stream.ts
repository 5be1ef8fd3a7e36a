import { Readable } from 'node:stream'
import type { Update } from '../platform/updates/update.ts'

/** Updates that wait for a slow reader. Beyond it, the reader has to read everything again. */
const WAITING_MAX = 200
/** A reader that takes nothing for this many heartbeats is disconnected. */
const BLOCKED_HEARTBEATS_MAX = 3
/** When a browser connects again after a stream has ended. */
const RETRY_MS = 2000

/** A stream of server-sent events (WHATWG HTML, "Server-sent events") with a bounded buffer. */
export class EventStream {
  readonly readable: Readable
  #isBlocked = false
  #blockedHeartbeats = 0
  #waiting = new Map<string, Update>()
  #mustResync = false
  #isEnded = false
  #sent = 0

  constructor(onClosed: () => void) {
    this.readable = new Readable({
      read: () => this.#resume(),
      destroy: (error, done) => {
        onClosed()
        done(error)
      },
    })
    this.#write(`retry: ${RETRY_MS}\n: connected\n\n`)
  }

  send(update: Update): void {
    if (!this.#isBlocked) this.#write(this.#event('', update))
    else if (this.#waiting.size < WAITING_MAX) this.#waiting.set(`${update.type} ${update.id}`, update)
    else this.resync()
  }

  /** Events may have been lost. */
  resync(): void {
    this.#waiting.clear()
    this.#mustResync = this.#isBlocked
    if (!this.#isBlocked) this.#write(this.#event('event: resync\n', { type: 'resync', id: null }))
  }

  /** Keeps proxies from closing the connection, and finds out about clients that are gone. */
  heartbeat(): void {
    if (!this.#isBlocked) this.#write(': heartbeat\n\n')
    else this.#blockedHeartbeats += 1
    if (this.#blockedHeartbeats >= BLOCKED_HEARTBEATS_MAX) this.readable.destroy()
  }

  end(): void {
    this.#isEnded = true
    if (this.#isBlocked) this.readable.destroy()
    else this.readable.push(null)
  }

  #event(name: string, data: object): string {
    this.#sent += 1
    return `${name}id: ${this.#sent}\ndata: ${JSON.stringify(data)}\n\n`
  }

  #write(text: string): void {
    if (!this.#isEnded && !this.readable.destroyed) this.#isBlocked = !this.readable.push(text)
  }

  /** The reader has taken everything. */
  #resume(): void {
    this.#isBlocked = false
    this.#blockedHeartbeats = 0
    const waiting = this.#waiting.values()
    this.#waiting = new Map()
    if (this.#mustResync) this.resync()
    for (const update of waiting) this.send(update)
  }
}
