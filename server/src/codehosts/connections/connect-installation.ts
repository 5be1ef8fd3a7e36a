import { type Principal, recordAudit, SYSTEM } from '../../audit/audit.store.ts'
import { findOrganizationById } from '../../organizations/organization.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Provider } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { type CodeHost, type HostInstallation, HostUnavailable } from '../code-host.ts'
import { rememberInstallation } from './apply-installation-event.ts'
import {
  type ConnectionName,
  insertConnection,
  type LiveConnection,
  lockConnectionsOfAccount,
} from './connection.store.ts'
import { connectionMade } from './connection-made.ts'
import { findInstallation } from './installation.store.ts'
import { removeConnection } from './remove-connection.ts'

type ConnectRequest = { org_id: string; provider: Provider; installation_id: string }
type MadeConnection = { id: string; created: boolean; account_login: string }

const INSTALLATION_ID = /^[A-Za-z0-9_-]{1,100}$/

/**
 * Connects an installation to an organization. Connecting it again returns the same connection.
 * Throws 400, 404 if the installation does not exist, 409 `not_configured` without credentials, and
 * 409 `account_connected` if another organization has the account.
 */
export async function connectInstallation(
  services: Services,
  request: ConnectRequest,
  principal: Principal,
): Promise<MadeConnection> {
  const { org_id, provider, installation_id } = request
  if (!INSTALLATION_ID.test(installation_id))
    throw new ApiError(400, 'invalid_request', `"${installation_id.slice(0, 80)}" is not the id of an installation`)
  const codeHost = requireCodeHost(services, provider)
  const installation = await readInstallation(services, codeHost, request)
  const wanted = { org_id, provider, host: await codeHost.host(), installation }
  return services.sql.begin((tx) => connect(tx, wanted, principal, services.clock.now()))
}

function requireCodeHost({ codeHosts }: Pick<Services, 'codeHosts'>, provider: Provider): CodeHost {
  const codeHost = codeHosts.get(provider)
  if (codeHost) return codeHost
  throw new ApiError(400, 'invalid_request', `Shiplock cannot connect to ${provider}`)
}

/** Reads the installation from its host, or what a webhook told if the host cannot be reached. */
async function readInstallation(
  { sql }: Pick<Services, 'sql'>,
  codeHost: CodeHost,
  { provider, installation_id }: ConnectRequest,
): Promise<HostInstallation> {
  const read = await codeHost.readInstallation(installation_id).catch(async (error) => {
    if (!(error instanceof HostUnavailable)) throw error
    const known = await findInstallation(sql, { provider, host: await codeHost.host(), id: installation_id })
    if (!known?.account || !known.repositories) throw unreachable(provider, installation_id).causedBy(error)
    const { account, repositories, suspended } = known
    return known.removed_at ? null : { id: installation_id, account, repositories, suspended }
  })
  if (read) return read
  const message = `Installation ${installation_id} does not exist, or it belongs to another App`
  throw new ApiError(404, 'not_found', message)
}

function unreachable(provider: Provider, id: string): ApiError {
  const message = `${provider} cannot be reached, and no webhook has described the installation ${id} yet. Try again later.`
  return new ApiError(502, 'host_unavailable', message)
}

type Wanted = { org_id: string; provider: Provider; host: string; installation: HostInstallation }

async function connect(tx: Tx, wanted: Wanted, principal: Principal, now: Date): Promise<MadeConnection> {
  const { org_id, provider, host, installation } = wanted
  const key = { provider, host, id: installation.id }
  await rememberInstallation(tx, key, { change: 'read', installation }, now)
  const account_login = installation.account.login
  const held = await lockConnectionsOfAccount(tx, key, installation)
  await refuseHeldByOther(tx, held, wanted, principal)
  const same = await settleHeld(tx, held, wanted, now)
  if (same) return { id: same.id, created: false, account_login }
  const status = installation.suspended ? ('suspended' as const) : ('active' as const)
  const connection = { org_id, provider, host, status, installation, id: newUuid(now), connected_at: now }
  // If the account was connected at the same time, that connection is visible now.
  if (!(await insertConnection(tx, connection))) return connect(tx, wanted, principal, now)
  await publish(tx, connectionMade, { org_id, connection_id: connection.id })
  const details = { provider, host, installation_id: installation.id, account: account_login }
  const object = { type: 'connection', id: connection.id }
  await recordAudit(tx, org_id, { principal, action: 'connection.create', object, reason: null, details }, now)
  return { id: connection.id, created: true, account_login }
}

/** Throws 409 if another organization has the account. Only administrators learn which one. */
async function refuseHeldByOther(
  tx: Tx,
  held: readonly LiveConnection[],
  { org_id, installation }: Wanted,
  principal: Principal,
): Promise<void> {
  const other = held.find((connection) => connection.org_id !== org_id)
  if (!other) return
  const slug = (await findOrganizationById(tx, other.org_id))?.slug
  const where =
    principal.type === 'command_line'
      ? `the organization "${slug}". Run "provider disconnect ${other.id}" first.`
      : 'another organization of this server.'
  const message = `The account ${installation.account.login} is connected to ${where}`
  throw new ApiError(409, 'account_connected', message)
}

/**
 * Returns the connection of the organization to the same installation. Removes its connection to an
 * older installation of the account, which no longer exists.
 */
async function settleHeld(
  tx: Tx,
  held: readonly LiveConnection[],
  { installation }: Wanted,
  now: Date,
): Promise<ConnectionName | null> {
  for (const connection of held) {
    if (connection.installation_id === installation.id) return connection
    await removeConnection(tx, connection, SYSTEM, now)
  }
  return null
}
