import type { Services } from '../../services.ts'
import type { CodeHost, InstallationEvent } from '../code-host.ts'
import { applyInstallationEvent } from '../connections/apply-installation-event.ts'
import { type ConnectionName, findConnection } from '../connections/connection.store.ts'

/**
 * Reads the installation of a connection, so that a suspension or its end, or a new name of the
 * account takes effect although its event was missed. Returns whether the connection is active.
 */
export async function followInstallation(
  services: Services,
  host: CodeHost,
  connection: ConnectionName,
): Promise<boolean> {
  const secrets = await services.secretsOfConnections.read(connection.id)
  const installation = await host.readInstallation(connection.installation_id, secrets?.credentials ?? null)
  // Another App's installation does not exist either. A connection is removed only by an event.
  if (installation === null) return connection.status === 'active'
  const event: InstallationEvent = { change: 'changed', installation, added: [], removed: [] }
  await services.sql.begin((tx) => applyInstallationEvent(services, tx, connection, event))
  return (await findConnection(services.sql, connection.id))?.status === 'active'
}
