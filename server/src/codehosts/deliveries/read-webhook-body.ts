import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../platform/http/errors.ts'

/** The largest payload that GitHub sends. */
export const WEBHOOK_BYTES_MAX = 25 * 2 ** 20
/** Most payloads are smaller. Larger ones need one of a few slots. */
const SMALL_BYTES_MAX = 256 * 2 ** 10
const LARGE_BODIES_MAX = 4

/**
 * Bounds the memory of bodies that nobody has verified yet: only a few bodies larger than 256 KiB
 * are read at a time. Others wait, unread, until the time limit of bodies.
 */
export class WebhookBodies {
  #free = LARGE_BODIES_MAX
  readonly #waiting = new Set<() => void>()

  /**
   * Reads the body and passes it to `use`. A large body keeps its slot until `use` has ended.
   * Throws 413 beyond 25 MiB, announced or sent.
   */
  async read<Result>(request: FastifyRequest, use: (body: Buffer) => Promise<Result>): Promise<Result> {
    if (Number(request.headers['content-length'] ?? 0) > WEBHOOK_BYTES_MAX) throw tooLarge()
    let hasSlot = false
    try {
      const chunks: Buffer[] = []
      let bytes = 0
      // Keeps the connection open if reading stops early, so that the client can be told why.
      for await (const chunk of request.raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength
        if (bytes > WEBHOOK_BYTES_MAX) throw tooLarge()
        chunks.push(chunk)
        if (bytes <= SMALL_BYTES_MAX || hasSlot) continue
        await this.#take(request.raw)
        hasSlot = true
      }
      return await use(Buffer.concat(chunks))
    } finally {
      if (hasSlot) this.#giveBack()
    }
  }

  /** Rejects when the client leaves or the body takes too long. */
  async #take(raw: FastifyRequest['raw']): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (error?: Error) => reject(error ?? new Error('The client closed the connection'))
    const ends = ['error', 'close'] as const
    this.#waiting.add(resolve)
    for (const event of ends) raw.once(event, leave)
    try {
      await promise
    } finally {
      this.#waiting.delete(resolve)
      for (const event of ends) raw.off(event, leave)
    }
  }

  #giveBack(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}

function tooLarge(): ApiError {
  const message = `The payload of a webhook can have at most ${WEBHOOK_BYTES_MAX} bytes.`
  return new ApiError(413, 'payload_too_large', message, { limitBytes: WEBHOOK_BYTES_MAX })
}
