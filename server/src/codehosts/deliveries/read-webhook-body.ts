import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../../platform/http/api-error.ts'
import { payloadTooLarge } from '../../platform/http/errors.ts'

/** The largest payload that a code host sends. */
const WEBHOOK_BYTES_MAX = 25 * 2 ** 20
/** Most payloads are smaller. Larger ones need one of a few slots. */
const SMALL_BYTES_MAX = 256 * 2 ** 10
const LARGE_BODIES_MAX = 4

type Raw = FastifyRequest['raw']

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
  async read<Result>({ raw, headers }: FastifyRequest, use: (body: Buffer) => Promise<Result>): Promise<Result> {
    if (Number(headers['content-length'] ?? 0) > WEBHOOK_BYTES_MAX) throw tooLarge()
    let slot: Promise<boolean> | undefined
    try {
      const body = await readBody(raw, () => {
        slot = this.#take(raw)
        return slot
      })
      return await use(body)
    } finally {
      if (await slot) this.#giveBack()
    }
  }

  /** Resolves to false when the client leaves or the body takes too long. */
  #take(raw: Raw): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      const get = () => resolve(true)
      this.#waiting.add(get)
      for (const event of ['error', 'close']) {
        raw.once(event, () => {
          if (this.#waiting.delete(get)) resolve(false)
        })
      }
    })
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

/** Pauses at the size of small bodies until `admit` has resolved. */
function readBody(raw: Raw, admit: () => Promise<unknown>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let isAdmitted = false
    const read = (chunk: Buffer) => {
      bytes += chunk.byteLength
      if (bytes > WEBHOOK_BYTES_MAX) return end(() => reject(tooLarge()))
      chunks.push(chunk)
      if (isAdmitted || bytes <= SMALL_BYTES_MAX) return
      isAdmitted = true
      raw.pause()
      void admit().then(() => raw.resume())
    }
    const listeners = {
      data: read,
      end: () => end(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))),
      error: (error: Error) => end(() => reject(error)),
      close: () => end(() => reject(new Error('The connection was closed before the end of the body'))),
    }
    const end = (settle: () => void) => {
      for (const [event, listener] of Object.entries(listeners)) raw.off(event, listener)
      settle()
    }
    for (const [event, listener] of Object.entries(listeners)) raw.on(event, listener)
  })
}

function tooLarge(): ApiError {
  const message = `The payload of a webhook can have at most ${WEBHOOK_BYTES_MAX} bytes.`
  return payloadTooLarge(message, { limitBytes: WEBHOOK_BYTES_MAX })
}
