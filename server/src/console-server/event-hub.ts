import { isDeepStrictEqual } from 'node:util'
import { findSession, type Membership } from '../access/sessions/session.store.ts'
import { isLive } from '../access/sessions/session.ts'
import { MINUTE_MS } from '../platform/clock.ts'
import { createRateLimitError } from '../platform/http/errors.ts'
import { defineGauge } from '../platform/telemetry/metrics.ts'
import { UPDATE_CHANNEL } from '../platform/updates/update.store.ts'
import { EVERY_ORGANIZATION, readMessage } from '../platform/updates/update.ts'
import type { Services } from '../services.ts'
import { EventStream } from './event-stream.ts'

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
