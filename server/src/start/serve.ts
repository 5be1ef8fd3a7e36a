import { createApp } from '../app.ts'
import { type Config, withPort } from '../config.ts'
import { isSpread } from '../platform/db/spread.ts'
import { type ChosenPort, registerGracefulStop, selectPort } from '../platform/http/listener.ts'
import { settleAllowedHosts } from '../platform/outbound/allowed-hosts.ts'
import type { Services } from '../services.ts'
import type { Database } from './database.ts'
import { openServices, startTelemetry } from './open-services.ts'
import { serveMetrics } from './serve-metrics.ts'

type Serving = {
  /** The address of the metrics, if they have a port of their own. */
  metricsUrl: string | null
  /** Closes the port, answers the requests in flight, and closes their connections. */
  close: () => Promise<void>
}

const CONNECTIONS = 16

/** Reserves the server's port and opens the services of the API. `opened` closes both. */
export async function openApi(settings: Config, database: Database, opened: AsyncDisposableStack) {
  // Port 0 of the settings becomes a free port.
  const port = await selectPort(settings.host, settings.port).catch((cause) =>
    Promise.reject(portFailure(settings, cause)),
  )
  opened.defer(() => port.release())
  const options = { applicationName: 'shiplock api', connections: CONNECTIONS }
  const { services, close } = await openServices(withPort(settings, port.number), database, options)
  opened.defer(close)
  return { services, port }
}

/** How long requests in flight may take after a stop was requested (operating guide, "Stops"). */
const DRAIN_MS = 20_000
const IDLE_GRACE_MS = 1000

const NO_REPLICA =
  'SHIPLOCK_DATABASE_READ_URL is for a database on one server, and the tables of this one are distributed. Unset it.'

/** Listens on the port once everything is ready to answer. The database must be up to date. */
export async function serve(services: Services, port: ChosenPort, idleGraceMs = IDLE_GRACE_MS): Promise<Serving> {
  if (isSpread() && services.config.databaseReadUrl !== null) throw new Error(NO_REPLICA)
  await using opened = new AsyncDisposableStack()
  opened.defer(await startTelemetry(services, 'api'))
  const app = await createApp(services)
  const stop = await registerGracefulStop(app, {
    idleGraceMs,
    drainMs: DRAIN_MS,
    noticeMs: services.config.stopNoticeSeconds * 1000,
  })
  await settleAllowedHosts(services)
  await app.ready()
  opened.defer(stop)
  await port.listen(app.server).catch((cause) => Promise.reject(portFailure(services.config, cause)))
  const metrics = await serveMetrics(services)
  opened.defer(async () => metrics?.close())
  const open = opened.move()
  return { metricsUrl: metrics?.url ?? null, close: () => open.disposeAsync() }
}

const PORT_FAILURES: Record<string, string> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'may not be used by this account',
  EADDRNOTAVAIL: 'cannot be used: this machine does not have that address',
}

function portFailure({ host, port }: Config, cause: NodeJS.ErrnoException): Error {
  const reason = PORT_FAILURES[cause.code ?? ''] ?? `cannot be used: ${cause.message}`
  return new Error(`Port ${port} of ${host} ${reason}; change SHIPLOCK_PORT or SHIPLOCK_HOST`, { cause })
}
