import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../../platform/http/api-error.ts'
import { getNetwork } from '../../platform/http/connection-limits.ts'
import { payloadTooLarge, requestTooSlow, serviceUnavailable } from '../../platform/http/errors.ts'
import { NetworkSlots } from '../../platform/http/network-slots.ts'

/** The largest payload that a code host sends. */
const WEBHOOK_BYTES_MAX = 25 * 2 ** 20
/** Most payloads are smaller. Larger ones need one of a few slots. */
const SMALL_BYTES_MAX = 256 * 2 ** 10
/** A large body that brings less in a second gives its slot to another one. */
const SECOND_BYTES_MIN = 128 * 2 ** 10
const SECOND_MS = 1_000
const READING_SECONDS_MAX = 10
const WAITING_SECONDS_MAX = 20
const RETRY_SECONDS = 10

const SHARES = { heldMax: 8, heldOfNetworkMax: 2, waitingMax: 100, waitingOfNetworkMax: 10, createBusyError }

type Raw = FastifyRequest['raw']

/**
 * Bounds the memory of bodies that nobody has verified yet: only a few bodies larger than 256 KiB
 * are read at a time, and a network has a share of them. Others wait, unread.
 */
export class WebhookBodies {
  readonly #slots = new NetworkSlots(SHARES)

  /**
   * Reads the body and passes it to `use`. A large body keeps its slot until `use` has ended.
   * Throws 413 beyond 25 MiB, announced or sent; 408 when the body takes more than 10 seconds, or a
   * large one brings less than 128 KiB in one; 503 when it gets no slot within 20 seconds.
   */
  async read<Result>({ raw, headers, ip }: FastifyRequest, use: (body: Buffer) => Promise<Result>): Promise<Result> {
    if (Number(headers['content-length'] ?? 0) > WEBHOOK_BYTES_MAX) throw tooLarge()
    let release = () => {}
    const admit = async () => {
      const slot = this.#slots.take(getNetwork(ip))
      release = slot.release
      await slot.granted
    }
    try {
      return await use(await new BodyReader(raw, admit).read())
    } finally {
      release()
    }
  }
}

/** Reads one body, and looks once a second how it arrives. */
class BodyReader {
  readonly #raw: Raw
  readonly #admit: () => Promise<void>
  readonly #outcome = Promise.withResolvers<Buffer>()
  readonly #timer = setInterval(() => this.#look(), SECOND_MS)
  readonly #listeners = {
    data: (chunk: Buffer) => this.#take(chunk),
    end: () => this.#end(() => this.#outcome.resolve(this.#join())),
    error: (error: Error) => this.#fail(error),
    close: () => this.#fail(new Error('The connection was closed before the end of the body')),
  }
  readonly #chunks: Buffer[] = []
  #stage: 'small' | 'waiting' | 'large' = 'small'
  #bytes = 0
  #bytesOfSecond = 0
  readonly #seconds = { reading: 0, waiting: 0 }

  /** A large body is paused until `admit` has resolved. */
  constructor(raw: Raw, admit: () => Promise<void>) {
    this.#raw = raw
    this.#admit = admit
  }

  read(): Promise<Buffer> {
    for (const [event, listener] of Object.entries(this.#listeners)) this.#raw.on(event, listener)
    // The client may have left before anybody listened.
    if (this.#raw.destroyed) this.#listeners.close()
    return this.#outcome.promise
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.byteLength
    this.#bytesOfSecond += chunk.byteLength
    if (this.#bytes > WEBHOOK_BYTES_MAX) return void this.#fail(tooLarge())
    this.#chunks.push(chunk)
    if (this.#stage !== 'small' || this.#bytes <= SMALL_BYTES_MAX) return
    this.#stage = 'waiting'
    // The second that has begun counts in full.
    this.#seconds.reading += 1
    this.#raw.pause()
    this.#admit().then(
      () => this.#resume(),
      (error) => this.#fail(error),
    )
  }

  #resume(): void {
    this.#stage = 'large'
    this.#bytesOfSecond = 0
    this.#timer.refresh()
    this.#raw.resume()
  }

  #look(): void {
    const isWaiting = this.#stage === 'waiting'
    const isLarge = this.#stage === 'large'
    // What has arrived while the process was busy is read before the second is judged.
    setImmediate(() => (isWaiting ? this.#judgeWaiting() : this.#judgeReading(isLarge)))
  }

  /** The time in which a body waits for its slot is not time in which it is read. */
  #judgeWaiting(): void {
    this.#seconds.waiting += 1
    if (this.#seconds.waiting >= WAITING_SECONDS_MAX) this.#fail(createBusyError())
  }

  #judgeReading(isLarge: boolean): void {
    const isStalled = isLarge && this.#bytesOfSecond < SECOND_BYTES_MIN
    this.#bytesOfSecond = 0
    this.#seconds.reading += 1
    if (isStalled) this.#fail(requestTooSlow(`A large body has to bring ${SECOND_BYTES_MIN} bytes in each second.`))
    else if (this.#seconds.reading >= READING_SECONDS_MAX)
      this.#fail(requestTooSlow(`The body did not arrive within ${READING_SECONDS_MAX} seconds.`))
  }

  #join(): Buffer {
    const [first] = this.#chunks
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
  }

  #fail(error: Error): void {
    this.#end(() => this.#outcome.reject(error))
  }

  #end(settle: () => void): void {
    clearInterval(this.#timer)
    for (const [event, listener] of Object.entries(this.#listeners)) this.#raw.off(event, listener)
    settle()
  }
}

function tooLarge(): ApiError {
  const message = `The payload of a webhook can have at most ${WEBHOOK_BYTES_MAX} bytes.`
  return payloadTooLarge(message, { limitBytes: WEBHOOK_BYTES_MAX })
}

function createBusyError(): ApiError {
  return serviceUnavailable('Too many large webhooks arrive at once. Try again later.').retryAfter(RETRY_SECONDS)
}
