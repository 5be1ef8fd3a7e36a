import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { APP_PATH } from '../access/gateway/authorize-people.ts'

/** The encodings in which a file can be sent, best first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const
export type Encoding = (typeof ENCODINGS)[number]

/**
 * The encoding of a response (RFC 9110 §12.5.3): of those that exist and that the client accepts,
 * the one with the highest weight. A client that accepts none of them gets the file as it is.
 */
export function selectEncoding(header: string | undefined, exists: (encoding: Encoding) => boolean): Encoding {
  const weights = readWeights(header ?? '')
  let chosen: Encoding = 'identity'
  let highest = 0
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0
    if (weight <= highest || !exists(encoding)) continue
    chosen = encoding
    highest = weight
  }
  return chosen
}

const ITEM = /^(?<name>[^;\s]+)\s*(?:;\s*q=(?<weight>[01](?:\.\d{0,3})?))?$/i

/** Items that are not well-formed do not count. `x-gzip` is another name of gzip (§8.4.1.3). */
function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const item of header.split(',')) {
    const { name, weight } = ITEM.exec(item.trim())?.groups ?? {}
    if (name) weights.set(name.toLowerCase().replace(/^x-gzip$/, 'gzip'), Math.min(1, Number(weight ?? 1)))
  }
  return weights
}

const compressWithBrotli = promisify(brotliCompress)
const COMPRESSORS = {
  br: (body: Buffer) => compressWithBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: promisify(gzip),
  identity: async (body: Buffer) => body,
}
/** Less than this fits into one packet. */
const COMPRESSED_BYTES_MIN = 1024

/**
 * Compresses the JSON that the application's API returns to GET. A new secret is only in responses
 * to other methods, and other sites cannot make a browser send the session with a GET (BREACH).
 */
export function registerCompression(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !route.url.startsWith(APP_PATH)) return
    route.onSend = [route.onSend ?? [], compressJson].flat()
  })
}

async function compressJson({ headers }: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  const isJson = String(reply.getHeader('content-type')).startsWith('application/json')
  if (!isJson || payload.length < COMPRESSED_BYTES_MIN) return payload
  const encoding = selectEncoding(headers['accept-encoding'], () => true)
  reply.header('vary', 'accept-encoding')
  if (encoding === 'identity') return payload
  reply.header('content-encoding', encoding).removeHeader('content-length')
  return COMPRESSORS[encoding](Buffer.from(payload as string))
}

/** Whether the client has the current version (RFC 9110 §13.1.2, weak comparison). */
export function matchEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((item) => item.trim().replace(/^W\//, '') === etag)
}

/**
 * Allows what the console needs and nothing else: its own files, styles that carry the nonce of the
 * response (the component library adds `<style>` elements), and requests to this server and to the
 * store that receives uploads.
 */
export function buildContentSecurityPolicy(uploadOrigin: string, nonce: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${uploadOrigin}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
