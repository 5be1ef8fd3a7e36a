import { insertAuditEntry, type Principal, SYSTEM } from '../../audit/audit.store.ts'
import { accountConnected, hostUnavailable } from '../../errors/codehosts.ts'
import { findOrganizationById } from '../../organizations/organization.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { invalidRequest, missing } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import type { Provider } from '../catalogue.ts'
import { type CodeHost, type HostCredentials, type HostInstallation, HostUnavailable } from '../code-host.ts'
import { connectionMade, saveInstallation } from './apply-installation-event.ts'
import {
  type ConnectionName,
  insertConnection,
  type LiveConnection,
  lockConnectionsOfAccount,
} from './connection.store.ts'
import { findInstallation } from './installation.store.ts'
import { removeConnection } from './remove-connection.job.ts'

type ConnectRequest = {
  org_id: string
  provider: Provider
  /** The id of an installation of our App; the name or id of an account at other hosts. */
  installation_id: string
  /** Null for an installation of our App. */
  credentials: HostCredentials | null
}
type MadeConnection = { id: string; created: boolean; account_login: string }

const INSTALLATION_ID = /^[A-Za-z0-9_-]{1,100}$/
/** Groups can be nested. The ids of some hosts have braces. */
const ACCOUNT_NAME =
  /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\p{L}\p{N}._~+@ {}-]{1,100}(?:\/[\p{L}\p{N}._~+@ -]{1,100}){0,20}$/u

/**
 * Connects an installation or an account to an organization. Connecting it again returns the same
 * connection, which signs in with the new credentials from then on. Throws 400, 404 if the
 * installation does not exist, 409 `not_configured` without credentials of our App, 400
 * `invalid_credentials`, and 409 `account_connected` if another organization has the account.
 */
export async function connectInstallation(
  services: Services,
  request: ConnectRequest,
  principal: Principal,
): Promise<MadeConnection> {
  const { org_id, provider, credentials } = request
  const codeHost = await services.codeHosts.get(provider)
  if (!codeHost) throw invalidRequest(`Shiplock cannot connect to ${provider}`)
  requireForm(codeHost, request)
  const installation = await readInstallation(services, codeHost, request)
  const wanted = { org_id, provider, host: await codeHost.host(), installation, credentials }
  return services.sql.begin((tx) => connect(services, tx, wanted, principal))
}

function requireForm({ connects }: CodeHost, { provider, installation_id, credentials }: ConnectRequest): void {
  const isApp = connects === 'app'
  if (!(isApp ? INSTALLATION_ID : ACCOUNT_NAME).test(installation_id)) {
    const what = isApp ? 'the id of an installation' : `the name of an account on ${provider}`
    throw invalidRequest(`"${installation_id.slice(0, 80)}" is not ${what}`)
  }
  if (isApp === (credentials === null)) return
  const message = isApp
    ? `An installation of the App on ${provider} is connected without credentials`
    : `An account on ${provider} is connected with credentials: a token, or an id and a secret of a client`
  throw invalidRequest(message)
}

/** Reads the installation from its host, or what a webhook told if the host cannot be reached. */
async function readInstallation(
  { sql }: Pick<Services, 'sql'>,
  codeHost: CodeHost,
  { provider, installation_id, credentials }: ConnectRequest,
): Promise<HostInstallation> {
  const read = await codeHost.readInstallation(installation_id, credentials).catch(async (error) => {
    if (!(error instanceof HostUnavailable)) throw error
    if (codeHost.connects === 'account') throw hostUnavailable(`${error.message} Try again later.`).causedBy(error)
    const known = await findInstallation(sql, { provider, host: await codeHost.host(), id: installation_id })
    if (!known?.account || !known.repositories) {
      const why = `no webhook has described the installation ${installation_id} yet`
      throw hostUnavailable(`${provider} cannot be reached, and ${why}. Try again later.`).causedBy(error)
    }
    const { account, repositories, suspended } = known
    return known.removed_at ? null : { id: installation_id, account, repositories, suspended }
  })
  if (read) return read
  const message =
    codeHost.connects === 'app'
      ? `Installation ${installation_id} does not exist, or it belongs to another App`
      : `The account "${installation_id}" does not exist on ${await codeHost.host()}, or the credentials may not read it`
  throw missing(message)
}

type Wanted = Pick<ConnectRequest, 'org_id' | 'provider' | 'credentials'> & {
  host: string
  installation: HostInstallation
}
type ConnectServices = Pick<Services, 'clock' | 'secretsOfConnections'>

async function connect(
  services: ConnectServices,
  tx: Tx,
  wanted: Wanted,
  principal: Principal,
): Promise<MadeConnection> {
  const now = services.clock.now()
  const { org_id, provider, host, installation, credentials } = wanted
  const key = { provider, host, id: installation.id }
  await saveInstallation(tx, key, { change: 'read', installation }, now)
  const account_login = installation.account.login
  const held = await lockConnectionsOfAccount(tx, key, installation)
  await refuseHeldByOther(tx, held, wanted, principal)
  const same = await settleHeld(tx, held, wanted, now)
  if (same) {
    if (credentials) await renew(services, tx, same, { credentials, principal })
    return { id: same.id, created: false, account_login }
  }
  const status = installation.suspended ? ('suspended' as const) : ('active' as const)
  const connection = { org_id, provider, host, status, installation, id: createUuid(now), connected_at: now }
  // If the account was connected at the same time, that connection is visible now.
  if (!(await insertConnection(tx, connection))) return connect(services, tx, wanted, principal)
  if (credentials) await services.secretsOfConnections.store(tx, connection.id, credentials)
  await publish(tx, connectionMade, { org_id, connection_id: connection.id })
  const details = { provider, host, installation_id: installation.id, account: account_login }
  const object = { type: 'connection', id: connection.id }
  await insertAuditEntry(tx, org_id, { principal, action: 'connection.create', object, reason: null, details }, now)
  return { id: connection.id, created: true, account_login }
}

type Renewal = { credentials: HostCredentials; principal: Principal }

/** Gives a connection new credentials, and reads what was missed while it had none that worked. */
async function renew(
  { clock, secretsOfConnections }: ConnectServices,
  tx: Tx,
  { org_id, id }: ConnectionName,
  { credentials, principal }: Renewal,
): Promise<void> {
  await secretsOfConnections.store(tx, id, credentials)
  await publish(tx, connectionMade, { org_id, connection_id: id })
  const entry = { principal, action: 'connection.renew', object: { type: 'connection', id }, reason: null }
  await insertAuditEntry(tx, org_id, entry, clock.now())
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
  throw accountConnected(message)
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
