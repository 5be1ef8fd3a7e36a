import type { Config } from '../config.ts'
import { openSql } from '../platform/db/sql.ts'
import { createLog } from '../platform/log.ts'
import { requireMigrated } from '../start/apply-updates.ts'
import { type Database, openDatabase } from '../start/database.ts'
import { openServices } from '../start/open-services.ts'
import { serveMetrics } from '../start/serve-metrics.ts'
import { startWorkerThread } from '../start/work-in-thread.ts'
import { type Context, defineCommand, waitForStop } from './command.ts'

export const worker = defineCommand({
  name: 'worker',
  about: 'Runs the background jobs only. "server" runs the API.',
  arguments: [],
  options: {},
  run: runUntilStopped,
})

async function runUntilStopped({ readSettings, say, print }: Context): Promise<void> {
  const config = readSettings()
  const stopped = waitForStop()
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config, say)
  opened.defer(() => database.close())
  const sql = openSql(database.address, { max: 1, applicationName: 'shiplock worker start' })
  await requireMigrated(sql).finally(() => sql.end())
  const { url, address } = database
  const thread = startWorkerThread({ config, database: { url, address } }, { log: createLog(config.logLevel) })
  opened.defer(() => thread.close())
  const metricsUrl = await openMetrics(config, database, opened)
  await thread.ready
  print({ json: { working: true, ...(metricsUrl && { metrics_url: metricsUrl }) }, text: '' })
  say('Shiplock is running background jobs')
  if (metricsUrl) say(`Metrics are served at ${metricsUrl}/metrics`)
  await stopped
  say('Stopping: finishing or releasing the jobs in progress')
}

const METRICS_CONNECTIONS = 2

/** The jobs run in a thread. Only metrics and health need services here. */
async function openMetrics(config: Config, database: Database, opened: AsyncDisposableStack): Promise<string | null> {
  if (config.metricsPort === null) return null
  const options = { applicationName: 'shiplock metrics', connections: METRICS_CONNECTIONS }
  const { services, close } = await openServices(config, database, options)
  opened.defer(close)
  const serving = await serveMetrics(services)
  opened.defer(async () => serving?.close())
  return serving?.url ?? null
}
