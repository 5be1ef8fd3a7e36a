import { requireMigrated } from '../start/bring-up-to-date.ts'
import { openDatabase } from '../start/database.ts'
import { openApi, serve } from '../start/serve.ts'
import { type Context, defineCommand, waitForStop } from './command.ts'

export const server = defineCommand({
  name: 'server',
  about: 'Runs the API only. "worker" runs the background jobs.',
  arguments: [],
  options: {},
  run: runUntilStopped,
})

async function runUntilStopped({ readSettings, say, print }: Context): Promise<void> {
  const settings = readSettings()
  const stopped = waitForStop()
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(settings, say)
  opened.defer(() => database.close())
  const { services, port } = await openApi(settings, database, opened)
  const { config } = services
  await requireMigrated(services.sql)
  const api = await serve(services, port)
  opened.defer(() => api.close())
  const { metricsUrl } = api
  print({ json: { url: config.baseUrl, ...(metricsUrl && { metrics_url: metricsUrl }) }, text: '' })
  say(`Shiplock is listening at ${config.baseUrl}`)
  if (metricsUrl) say(`Metrics are served at ${metricsUrl}/metrics`)
  await stopped
  say('Stopping: answering the requests in progress')
}
