import type { Services } from '../services.ts'
import { applyUpdates } from '../start/apply-updates.ts'
import { openDatabase } from '../start/database.ts'
import { openServices } from '../start/open-services.ts'
import type { Context } from './command.ts'

const CONNECTIONS = 1

/**
 * Runs an administrative action on the configured database, whether a server is running or not. An
 * embedded PostgreSQL that was started for it is stopped afterwards.
 */
export async function withServices<Result>(
  { readSettings, say }: Context,
  action: (services: Services) => Promise<Result>,
  connections = CONNECTIONS,
): Promise<Result> {
  const config = readSettings()
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config, say)
  opened.defer(() => database.close())
  const { services, close } = await openServices(config, database, {
    applicationName: 'shiplock administration',
    connections,
  })
  opened.defer(close)
  await applyUpdates(services.sql, say)
  return await action(services)
}
