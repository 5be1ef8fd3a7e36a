import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const PAGE = `<!doctype html>
<script type="importmap">
  {"imports": {"@shiplock/sdk": "/modules/@shiplock/sdk/index.js", "openapi-fetch": "/modules/openapi-fetch/dist/index.mjs"}}
</script>
<input id="key"><input id="report" type="file"><progress id="progress" value="0"></progress><p id="status"></p>`

export type SameOrigin = {
  url: string
  forwardTo(api: string): void
  /** The next PUT gets the answer of a proxy that cannot reach its server. */
  failNextPut(): void
  close(): Promise<void>
}

/** Serves a page, the modules of a directory, and an API behind it, all at one origin. */
export async function startSameOrigin(modules: string): Promise<SameOrigin> {
  let api = ''
  let failing = false
  const server = createServer((request, response) => {
    const { url = '/' } = request
    if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    else if (url.startsWith('/modules/')) sendModule(join(modules, url.slice('/modules/'.length)), response)
    else if (failing && request.method === 'PUT') {
      failing = false
      response.writeHead(502).end()
    } else forward(api, request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const { port } = server.address() as AddressInfo
  const forwardTo = (url: string) => {
    api = url
  }
  const failNextPut = () => {
    failing = true
  }
  return { url: `http://127.0.0.1:${port}`, forwardTo, failNextPut, close }
}

function sendModule(path: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/javascript' })
  createReadStream(path)
    .on('error', () => response.destroy())
    .pipe(response)
}

function forward(api: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url } = request
  const forwarded = openRequest(api + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  forwarded.on('error', () => response.destroy())
  request.pipe(forwarded)
}
