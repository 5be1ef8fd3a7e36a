import type { AddressInfo } from 'node:net'
import { createApp } from './app.ts'
import type { Services } from './services.ts'

export type Serving = { url: string; close: () => Promise<void> }

/** Longest that requests in flight may take after a stop was asked for (operating guide). */
const DRAIN_TIMEOUT_MS = 20_000

/** Listens until closed. Closing takes no new connections and lets requests in flight finish. */
export async function serve(services: Services): Promise<Serving> {
  const app = await createApp(services)
  const { host, port } = services.config
  await app.listen({ host, port })
  const address = app.server.address() as AddressInfo
  const close = async () => {
    const hurry = setTimeout(() => app.server.closeAllConnections(), DRAIN_TIMEOUT_MS)
    await app.close()
    clearTimeout(hurry)
  }
  return { url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`, close }
}
