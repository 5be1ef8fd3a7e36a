import { createApp } from './app.ts'
import type { BoundPort } from './platform/http/bound-port.ts'
import type { Services } from './services.ts'

export type Serving = { close: () => Promise<void> }

/** Longest that requests in flight may take after a stop was asked for (operating guide). */
const DRAIN_TIMEOUT_MS = 20_000
const IDLE_LOOK_MS = 50

/** Answers on the port until closed. Closing takes no new connections and lets requests in flight finish. */
export async function serve(services: Services, boundPort: BoundPort): Promise<Serving> {
  const app = await createApp(services)
  await app.ready()
  await boundPort.handTo(app.server)
  const close = async () => {
    const hurry = setTimeout(() => app.server.closeAllConnections(), DRAIN_TIMEOUT_MS)
    // A connection whose last request was in flight is kept alive for the next one, which nobody will answer.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS)
    await app.close()
    clearTimeout(hurry)
    clearInterval(idle)
  }
  return { close }
}
