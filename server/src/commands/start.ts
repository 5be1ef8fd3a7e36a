import { createFirstOrganization } from '../access/api-keys/create-first-organization.ts'
import { bringUpToDate } from '../bring-up-to-date.ts'
import { withPort } from '../config.ts'
import { openDatabase } from '../database.ts'
import { openServices } from '../open-services.ts'
import { serve } from '../serve.ts'
import { workInThread } from '../work-in-thread.ts'
import { bindServerPort } from './bind-server-port.ts'
import { type Context, defineCommand } from './command.ts'
import { firstSteps } from './first-steps.ts'
import { stopSignal } from './stop-signal.ts'

const CONNECTIONS = 16

export const start = defineCommand({
  name: 'start',
  about: 'Runs API and worker in one, on a PostgreSQL of its own unless DATABASE_URL is set.',
  arguments: [],
  options: {},
  run: runUntilStopped,
})

async function runUntilStopped({ readSettings, say, print }: Context): Promise<void> {
  const settings = readSettings()
  const stopped = stopSignal()
  await using opened = new AsyncDisposableStack()

  say(settings.databaseUrl === null ? `Starting PostgreSQL on ${settings.dataDir}` : 'Connecting to PostgreSQL')
  const database = await openDatabase(settings, say)
  opened.defer(() => database.close())
  await database.claim()
  const boundPort = await bindServerPort(settings)
  opened.defer(() => boundPort.release())
  const config = withPort(settings, boundPort.port)
  const { services, close } = await openServices(config, database, {
    applicationName: 'shiplock api',
    connections: CONNECTIONS,
  })
  opened.defer(close)
  const applied = await bringUpToDate(services.sql, database, services.log)
  if (applied.length > 0) say(`Migrated the database: ${applied.length} steps`)

  const server = await serve(services, boundPort)
  opened.defer(() => server.close())
  const first = await createFirstOrganization(services)
  print({ json: { url: config.baseUrl, ...first }, text: first ? firstSteps(first, config.baseUrl) : '' })
  say(`Shiplock is listening at ${config.baseUrl}`)
  // Last, so that loading it does not keep the API waiting on a small machine.
  const { url, address } = database
  const worker = workInThread({ config, database: { url, address } }, { log: services.log })
  opened.defer(() => worker.close())

  await stopped
  say('Stopping: requests and jobs in flight are finished first')
  await Promise.all([server.close(), worker.close()])
}
