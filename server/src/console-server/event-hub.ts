import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { findSession, type Membership } from '../access/sign-in/session.store.ts'
import { isLive } from '../access/sign-in/session.ts'
import { MINUTE_MS } from '../platform/clock.ts'
import { createRateLimitError } from '../platform/http/errors.ts'
import { defineGauge } from '../platform/metrics.ts'
import { EVERY_ORGANIZATION, readMessage, UPDATE_CHANNEL, type Update } from '../platform/queue/update.ts'
import type { Services } from '../services.ts'

/** Notifications carry the id of a user whose access may have changed, or `*`. */
const PEOPLE_CHANNEL = 'shiplock_people'
const STREAMS_PER_USER_MAX = 20
const HEARTBEAT_MS = 20_000

const streams = defineGauge('shiplock_event_streams', 'Open event streams of the console.')

/** Who reads a stream. It ends when the session or the membership is another one. */
type Reader = { userId: string; tokenSha256: Buffer; membership: Membership }

type OpenStream = { reader: Reader; stream: EventStream }

/** The event streams of this process, which share one listening connection. */
export class EventHub {
  readonly #services: Services
  readonly #open = new Set<OpenStream>()
  readonly #heartbeat: NodeJS.Timeout

  constructor(services: Services, heartbeatMs = HEARTBEAT_MS) {
    this.#services = services
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref()
  }

  /**
   * Starts to listen. A reconnect makes the readers read everything again, because notifications
   * may have been lost before it.
   */
  async listen(): Promise<() => Promise<void>> {
    const { sql } = this.#services
    const updates = await sql.listen(
      UPDATE_CHANNEL,
      (payload) => this.#deliver(payload),
      () => this.#resync(),
    )
    const people = await sql.listen(
      PEOPLE_CHANNEL,
      (userId) => this.#recheck(userId),
      () => this.#recheck('*'),
    )
    return async () => {
      await Promise.all([updates.unlisten(), people.unlisten()])
    }
  }

  /** Opens a stream. Throws 429 `rate_limited` if the person has too many. */
  open(reader: Reader): EventStream {
    this.#refuseTooMany(reader)
    const stream = new EventStream(() => this.#close(opened))
    const opened = { reader, stream }
    this.#open.add(opened)
    streams.inc()
    // The session may have ended after it was read.
    void this.#check(opened)
    return stream
  }

  /** Ends all streams. */
  stop(): void {
    clearInterval(this.#heartbeat)
    for (const { stream } of this.#open) stream.end()
  }

  #close(opened: OpenStream): void {
    if (this.#open.delete(opened)) streams.dec()
  }

  #refuseTooMany({ userId }: Reader): void {
    const own = [...this.#open].filter(({ reader }) => reader.userId === userId)
    if (own.length < STREAMS_PER_USER_MAX) return
    const now = this.#services.clock.now()
    const resetAt = new Date(now.getTime() + MINUTE_MS)
    const message = `You have ${own.length} open event streams. Close some, then try again.`
    throw createRateLimitError(message, { limit: STREAMS_PER_USER_MAX, resetAt, now })
  }

  #deliver(payload: string): void {
    const { org, changes: updates } = readMessage(payload)
    for (const { reader, stream } of this.#open) {
      if (org !== EVERY_ORGANIZATION && org !== reader.membership.organization.id) continue
      for (const update of updates) stream.send(update)
    }
  }

  #resync(): void {
    for (const { stream } of this.#open) stream.resync()
  }

  #recheck(userId: string): void {
    for (const opened of this.#open) {
      if (userId === '*' || opened.reader.userId === userId) void this.#check(opened)
    }
  }

  #beat(): void {
    for (const opened of this.#open) {
      opened.stream.heartbeat()
      void this.#check(opened)
    }
  }

  /** Ends a stream whose reader may not read it any more, or has other permissions. */
  async #check({ reader, stream }: OpenStream): Promise<void> {
    const { sql, clock, log } = this.#services
    const { tokenSha256, membership } = reader
    try {
      const session = await findSession(sql, tokenSha256, membership.organization.slug)
      const isSame = session !== null && isDeepStrictEqual(session.membership, membership)
      if (!isSame || !isLive(session, clock.now())) stream.end()
    } catch (err) {
      log.warn({ err }, 'Could not check the session of an event stream')
    }
  }
}

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
