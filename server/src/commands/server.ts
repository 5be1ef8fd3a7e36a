import { withPort } from '../config.ts'
import { openDatabase } from '../database.ts'
import { openServices } from '../open-services.ts'
import { chooseServerPort, serve } from '../serve.ts'
import { type Context, defineCommand, stopSignal } from './command.ts'
import { requireMigrated } from './require-migrated.ts'

const CONNECTIONS = 16

export const server = defineCommand({
  name: 'server',
  about: 'Runs the API only. "worker" runs the background jobs.',
  arguments: [],
  options: {},
  run: runUntilStopped,
})

async function runUntilStopped({ readSettings, say, print }: Context): Promise<void> {
  const settings = readSettings()
  const stopped = stopSignal()
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(settings, say)
  opened.defer(() => database.close())
  const port = await chooseServerPort(settings)
  opened.defer(() => port.release())
  const config = withPort(settings, port.number)
  const { services, close } = await openServices(config, database, {
    applicationName: 'shiplock api',
    connections: CONNECTIONS,
  })
  opened.defer(close)
  await requireMigrated(services.sql)
  const api = await serve(services, port)
  opened.defer(() => api.close())
  print({ json: { url: config.baseUrl }, text: '' })
  say(`Shiplock is listening at ${config.baseUrl}`)
  await stopped
  say('Stopping: answering the requests in progress')
}
