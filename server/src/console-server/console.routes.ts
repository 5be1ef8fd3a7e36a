import { randomBytes } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { createUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { buildContentSecurityPolicy, type Encoding, matchEtag, selectEncoding } from './console-headers.ts'
import { type ConsoleFile, openConsole } from './open-console.ts'

const ASSETS = '/assets/'
const NONCE = '__CSP_NONCE__'
const NONCE_BYTES = 18
/** The names of assets contain the hash of their contents. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'no-cache'

/**
 * Serves the built console: its files, and its page at `/` and at every path of which no other
 * route has the first part. Which page of the console a path shows is decided in the browser.
 */
export async function registerConsoleRoutes(app: HttpServer, services: Services): Promise<void> {
  if (services.config.console === null) return
  const files = openConsole(services.config.console)
  const uploadOrigin = await originOfUploads(services)
  const filePolicy = buildContentSecurityPolicy(uploadOrigin, null)
  const schema = { hide: true }

  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    const page = ((await files.page()) ?? UNBUILT_PAGE).replaceAll(NONCE, nonce)
    const encoding = selectEncoding(request.headers['accept-encoding'], () => true)
    reply.headers({
      'cache-control': REVALIDATED,
      'content-security-policy': buildContentSecurityPolicy(uploadOrigin, nonce),
    })
    return sendEncoded(reply.type('text/html; charset=utf-8'), encoding, ENCODERS[encoding](page))
  }
  const sendFile = (
    request: FastifyRequest,
    reply: FastifyReply,
    { path, file }: { path: string; file: ConsoleFile },
  ) => {
    const { 'accept-encoding': accepted, 'if-none-match': known } = request.headers
    const encoding = selectEncoding(accepted, (name) => file.bodies[name] !== undefined)
    const etag = `"${file.sha256.slice(0, 32)}-${encoding}"`
    const caching = path.startsWith(ASSETS) ? IMMUTABLE : REVALIDATED
    reply.headers({ 'content-security-policy': filePolicy, 'cache-control': caching, etag })
    if (matchEtag(known, etag)) return reply.code(304).header('vary', 'accept-encoding').send()
    return sendEncoded(reply.type(file.type), encoding, file.bodies[encoding] as Buffer)
  }

  app.get('/', { schema }, (request, reply) => {
    if (request.headers.authorization !== undefined) throw createNotFoundError('path')
    return sendPage(request, reply)
  })
  app.get(`${ASSETS}*`, { schema }, async (request, reply) => {
    const path = getPath(request)
    const file = await files.file(path)
    if (file === null) throw createNotFoundError('file')
    return sendFile(request, reply, { path, file })
  })
  app.answerUnknownPaths(async (request, reply) => {
    const path = getPath(request)
    const file = await files.file(path)
    if (file === null && !isNavigation(request)) return false
    await (file === null ? sendPage(request, reply) : sendFile(request, reply, { path, file }))
    return true
  })
}

/** Browsers accept HTML where a person opens a page; clients of the API do not. */
function isNavigation({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true && headers.authorization === undefined
}

function getPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? ''
}

/** Uploads are sent to signed addresses, which a bucket has at an origin of its own. */
async function originOfUploads({ objects, clock }: Services): Promise<string> {
  const expected = { sizeBytes: 1, sha256: '0'.repeat(64), contentType: 'application/octet-stream' }
  const { url } = await objects.presignPut(createUuid(clock.now()), expected, clock.now())
  return new URL(url).origin
}

/** Pages differ in every response, so they are compressed quickly. */
const ENCODERS: Record<Encoding, (page: string) => Buffer> = {
  br: (page) => brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (page) => gzipSync(page),
  identity: (page) => Buffer.from(page),
}

function sendEncoded(reply: FastifyReply, encoding: Encoding, body: Buffer) {
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.header('vary', 'accept-encoding').send(body)
}

const SECONDS = 2

/**
 * The page in place of the console while it is not built. It loads itself again without a script,
 * and shows the console once that is there.
 */
const UNBUILT_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="refresh" content="${SECONDS}">
    <title>The console is being built – Shiplock</title>
    <style nonce="__CSP_NONCE__">
      :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif }
      body { max-width: 34rem; margin: 20vh auto; padding: 0 1.5rem }
      h1 { font-size: 1.5rem; line-height: 1.25 }
      code { padding: .1em .35em; border-radius: .3em; background: color-mix(in srgb, currentcolor 10%, transparent) }
    </style>
  </head>
  <body>
    <main>
      <h1>The console is being built</h1>
      <p>This takes up to a minute, once after an installation or an update. This page opens the console by itself.</p>
      <p>The API works already. If the console does not appear, the terminal of the server shows why, and
        <code>npm run build --workspace console</code> builds it again.</p>
    </main>
  </body>
</html>
`
