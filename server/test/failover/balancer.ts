import { createServer, type IncomingMessage, type RequestOptions, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A load balancer for servers of this machine, as docs/operations/high-availability.md asks for:
 * where a server refuses the connection, it tries another one, and otherwise it repeats nothing.
 */
export type Balancer = AsyncDisposable & { url: string }

export async function startBalancer(ports: number[]): Promise<Balancer> {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    turn += 1
    const order = ports.map((_, at) => ports[(turn + at) % ports.length] as number)
    forward(incoming, outgoing, order)
  })
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, [port, ...others]: number[]): void {
  const sent = request({ ...optionsOf(incoming), port })
  // Nothing of the request is sent before there is a connection.
  sent.once('socket', (socket) => socket.once('connect', () => incoming.pipe(sent)))
  sent.once('response', (response) => {
    const { connection: _, 'keep-alive': __, ...headers } = response.headers
    outgoing.writeHead(response.statusCode ?? 502, headers)
    response.pipe(outgoing)
    response.once('error', () => outgoing.destroy())
  })
  sent.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED' && others.length > 0) return forward(incoming, outgoing, others)
    console.error(`The balancer lost ${incoming.method} ${incoming.url?.split('?')[0]}: ${error.code} ${error.message}`)
    outgoing.destroy()
  })
  outgoing.once('close', () => sent.destroy())
}

/** A connection of its own for each request. */
function optionsOf({ method = 'GET', url = '/', headers }: IncomingMessage): RequestOptions {
  return { host: '127.0.0.1', method, path: url, agent: false, headers: { ...headers, connection: 'close' } }
}
