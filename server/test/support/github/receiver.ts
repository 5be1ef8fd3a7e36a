import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Receiver = {
  url: string
  received: { headers: IncomingHttpHeaders; body: string }[]
  close(): Promise<void>
}

/** Receives webhooks and answers 202, for tests of the deliveries themselves. */
export async function startReceiver(): Promise<Receiver> {
  const received: Receiver['received'] = []
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    received.push({ headers: incoming.headers, body: Buffer.concat(chunks).toString() })
    outgoing.writeHead(202).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhooks/github`,
    received,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
