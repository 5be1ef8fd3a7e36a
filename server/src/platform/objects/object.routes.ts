import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { lengthRequired } from '../http/errors.ts'
import { createBodyTooLargeError, createWrongSizeError, invalidSignature } from './errors.ts'
import { CHECKSUM_HEADER, type FileObjectStore, getPutHeaders, STORAGE_PATH } from './file-object-store.ts'
import type { ExpectedObject } from './object-store.ts'

/** A PUT is aborted after this long without a byte. */
const IDLE_TIMEOUT_MS = 60_000

/** What browsers ask before a page of another origin sends a file (Fetch, "CORS protocol"). */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'PUT',
  'access-control-allow-headers': `content-type, ${CHECKSUM_HEADER}`,
  'access-control-max-age': '86400',
}

type ObjectRoutesOptions = {
  objects: FileObjectStore
  clock: Clock
  idleTimeoutMs?: number
}

type TokenQuery = { Querystring: { token?: unknown } }

/**
 * `PUT /storage/objects?token=…`, at the addresses that the file store signs. The token is the
 * permission; no API key is needed. Register it as a plugin, so that bodies arrive unread and
 * without a size limit.
 */
export async function serveObjects(app: FastifyInstance, options: ObjectRoutesOptions): Promise<void> {
  const { objects, clock, idleTimeoutMs = IDLE_TIMEOUT_MS } = options
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))

  // The token is the whole permission and no cookie counts, so that pages of other origins may PUT.
  // On loopback, the pages of `localhost` send to addresses of `127.0.0.1`.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-allow-origin', '*')
  })
  app.options(STORAGE_PATH, (_request, reply) => reply.code(204).headers(PREFLIGHT_HEADERS).send())

  app.put<TokenQuery>(STORAGE_PATH, { config: { longBody: true } }, async (request, reply) => {
    const { key, expected } = objects.openPut(request.query.token, clock.now())
    requireHeaders(request, expected)
    requireLength(request.headers, expected.sizeBytes)
    request.raw.setTimeout(idleTimeoutMs)
    // Keeps the connection open if reading stops early, so that the client can be told why.
    await objects.write(key, expected, request.raw.iterator({ destroyOnReturn: false }), freeMemory)
    return reply.code(200).send()
  })
}

/**
 * Frees the memory of a chunk from a socket. Left to the garbage collector, the chunks of a large
 * body make it go over the whole heap again and again, which takes longer than all other work on
 * the body.
 */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * Requires each signed header exactly once. Reads them as sent, because hooks may have changed the
 * parsed ones.
 */
function requireHeaders(request: FastifyRequest, expected: ExpectedObject): void {
  for (const [name, value] of Object.entries(getPutHeaders(expected))) {
    const given = request.raw.headersDistinct[name.toLowerCase()]
    if (given?.length !== 1 || given[0] !== value) {
      throw invalidSignature(`Send the header ${name} exactly as it was returned.`)
    }
  }
}

/** The size of a chunked body is only known at its end, where `write` checks it. */
function requireLength(headers: IncomingHttpHeaders, sizeBytes: number): void {
  const { 'content-length': contentLength, 'transfer-encoding': coding } = headers
  if (contentLength === undefined && coding !== undefined) return
  if (contentLength === undefined) throw lengthRequired()
  const announcedBytes = Number(contentLength)
  if (announcedBytes > sizeBytes) throw createBodyTooLargeError(sizeBytes)
  if (announcedBytes !== sizeBytes) throw createWrongSizeError(sizeBytes, announcedBytes)
}
