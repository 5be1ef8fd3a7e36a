import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { ApiError } from '../http/errors.ts'
import type { FileObjectStore } from './file-object-store.ts'
import type { ExpectedObject } from './object-store.ts'
import { putHeaders } from './put-headers.ts'
import { invalidSignature, STORAGE_PATH } from './signed-address.ts'
import { bodyTooLarge, sizeMismatch } from './verified-body.ts'

/** A sender that is silent for this long is taken for gone. */
const IDLE_TIMEOUT_MS = 60_000

export interface ObjectRoutesOptions {
  objects: FileObjectStore
  clock: Clock
  idleTimeoutMs?: number
}

/**
 * `PUT /storage/objects?token=…`: takes one file at the address that `presignPut` gave out. The address is the
 * permission; no API key is asked for. Register it as a plugin, so that the body reaches it unread and unbounded.
 */
export async function putObjectRoutes(app: FastifyInstance, options: ObjectRoutesOptions): Promise<void> {
  const { objects, clock, idleTimeoutMs = IDLE_TIMEOUT_MS } = options
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.put<{ Querystring: { token?: unknown } }>(STORAGE_PATH, async (request, reply) => {
    const { key, expected } = objects.openPut(request.query.token, clock.now())
    requireHeaders(request, expected)
    requireLength(request.headers['content-length'], expected.sizeBytes)
    request.raw.setTimeout(idleTimeoutMs)
    await objects.write(key, expected, bodyOf(request))
    return reply.code(200).send()
  })
}

/** Each header exactly once, as it arrived: hooks for other routes may have changed the parsed ones. */
function requireHeaders(request: FastifyRequest, expected: ExpectedObject): void {
  for (const [name, value] of Object.entries(putHeaders(expected))) {
    const given = request.raw.headersDistinct[name.toLowerCase()]
    if (given?.length !== 1 || given[0] !== value)
      throw invalidSignature(`Send the header ${name} exactly as it was given.`)
  }
}

function requireLength(contentLength: string | undefined, sizeBytes: number): void {
  if (contentLength === undefined) throw new ApiError(411, 'length_required', 'Send the header Content-Length.')
  const announcedBytes = Number(contentLength)
  if (announcedBytes > sizeBytes) throw bodyTooLarge(sizeBytes)
  if (announcedBytes !== sizeBytes) throw sizeMismatch(sizeBytes, announcedBytes)
}

/** The body, without closing the connection when reading stops early, so that the sender can be told why; the rest is thrown away. */
async function* bodyOf({ raw }: FastifyRequest): AsyncGenerator<Uint8Array> {
  try {
    yield* raw.iterator({ destroyOnReturn: false })
  } finally {
    raw.resume()
  }
}
