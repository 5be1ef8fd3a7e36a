import { requireMigrated } from '../bring-up-to-date.ts'
import { openDatabase } from '../database.ts'
import { openSql } from '../platform/db/sql.ts'
import { createLog } from '../platform/log.ts'
import { workInThread } from '../work-in-thread.ts'
import { type Context, defineCommand, stopSignal } from './command.ts'

export const worker = defineCommand({
  name: 'worker',
  about: 'Runs the background jobs only. "server" runs the API.',
  arguments: [],
  options: {},
  run: runUntilStopped,
})

async function runUntilStopped({ readSettings, say, print }: Context): Promise<void> {
  const config = readSettings()
  const stopped = stopSignal()
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config, say)
  opened.defer(() => database.close())
  const sql = openSql(database.address, { max: 1, applicationName: 'shiplock worker start' })
  await requireMigrated(sql).finally(() => sql.end())
  const { url, address } = database
  const thread = workInThread({ config, database: { url, address } }, { log: createLog(config.logLevel) })
  opened.defer(() => thread.close())
  await thread.ready
  print({ json: { working: true }, text: '' })
  say('Shiplock is running background jobs')
  await stopped
  say('Stopping: finishing or releasing the jobs in progress')
}
