import { requireChoice, UsageError } from '@shiplock/command-line/options'
import { COMMAND_LINE } from '../audit/audit.store.ts'
import { APP_PROVIDERS, getCodeHost, PROVIDERS, type Provider } from '../codehosts/catalogue.ts'
import { connectInstallation } from '../codehosts/connections/connect-installation.ts'
import {
  findListed,
  type ListedConnection,
  listConnections,
  listWaiting,
} from '../codehosts/connections/connection-list.store.ts'
import { disconnect } from '../codehosts/connections/remove-connection.ts'
import { listOrganizations } from '../organizations/organization.store.ts'
import { requireOrganization } from '../organizations/require-organization.ts'
import { withServices } from './administer.ts'
import { defineCommand } from './command.ts'
import { CREDENTIALS, readCredentials } from './provider-credentials.ts'
import { formatTable } from './table.ts'

const PROVIDER = { type: 'text', value: PROVIDERS.join('|'), about: 'the code host', required: true } as const

const ACCOUNT_PROVIDERS = PROVIDERS.filter((provider) => getCodeHost(provider).connects === 'account')

/** `a, b, or c` */
function formatList(texts: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(texts)
}

export const providerConnect = defineCommand({
  name: 'provider connect',
  about: `Connects an installation of the ${formatList(APP_PROVIDERS.map((provider) => getCodeHost(provider).name))} App, or an account on another code host, to an organization. "provider list" shows waiting installations.`,
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    provider: PROVIDER,
    installation: {
      type: 'text',
      value: 'ID',
      about: formatList(APP_PROVIDERS.map((provider) => getCodeHost(provider).account)),
    },
    account: {
      type: 'text',
      value: 'NAME',
      about: formatList(ACCOUNT_PROVIDERS.map((provider) => getCodeHost(provider).account)),
    },
    ...CREDENTIALS,
  },
  async run(context, _given, { org, provider, installation, account, ...given }) {
    const known = requireChoice('provider', provider, PROVIDERS)
    const installation_id = requireAccount(known, installation, account)
    const credentials = await readCredentials(given)
    const { connection, created } = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      await services.hostApps.get(known)?.require()
      const request = { org_id: organization.id, provider: known, installation_id, credentials }
      const { id, created } = await connectInstallation(services, request, COMMAND_LINE)
      return { created, connection: await findListed(services.sql, organization.id, id) }
    })
    const login = connection?.account?.login
    const text = created ? `Connected ${login} to ${org}` : `${login} is already connected to ${org}`
    context.print({ json: connection, text: `${text} (${connection?.id})` })
  },
})

/** Installations of an App have ids; accounts are named. */
function requireAccount(provider: Provider, installation?: string, account?: string): string {
  const [wanted, option, other] =
    getCodeHost(provider).connects === 'app'
      ? [installation, 'installation', account]
      : [account, 'account', installation]
  if (wanted === undefined || other !== undefined) throw new UsageError(`--provider ${provider} requires --${option}`)
  return wanted
}

export const providerList = defineCommand({
  name: 'provider list',
  about: 'Lists connections to code hosts with their synchronization, and installations that wait to be connected.',
  arguments: [],
  options: { org: { type: 'text', value: '<slug>', about: 'only connections of this organization' } },
  async run(context, _given, { org }) {
    const { connected, waiting, slugs } = await withServices(context, async ({ sql }) => {
      const orgId = org === undefined ? null : (await requireOrganization(sql, org)).id
      const slugs = new Map((await listOrganizations(sql)).map(({ id, slug }) => [id, slug]))
      return { connected: await listConnections(sql, orgId), waiting: await listWaiting(sql, null), slugs }
    })
    const rows = [
      ...connected.map(({ org_id, connection }) => toRow(connection, slugs.get(org_id) ?? '-')),
      ...waiting.map((installation) => toRow(installation, '-')),
    ]
    const text = formatTable(HEADING, rows, 'There are no connections and no waiting installations.')
    context.print({ json: [...connected.map(({ connection }) => connection), ...waiting], text })
  },
})

export const providerDisconnect = defineCommand({
  name: 'provider disconnect',
  about: 'Removes a connection. Its repositories keep their names and their history.',
  arguments: ['id'],
  options: {},
  async run(context, { id }) {
    const connection = await withServices(context, async (services) => {
      const removed = await disconnect(services, { id }, COMMAND_LINE)
      return findListed(services.sql, removed.org_id, removed.id)
    })
    context.print({ json: connection, text: `Disconnected ${connection?.account?.login} (${connection?.id})` })
  },
})

const HEADING = ['ID', 'ORGANIZATION', 'HOST', 'ACCOUNT', 'STATUS', 'REPOSITORIES', 'LAST EVENT', 'SYNC']

function toRow(listed: ListedConnection, organization: string): string[] {
  const { id, host, account, status, repositories, last_event_at } = listed
  const event = last_event_at?.toISOString() ?? '-'
  return [id, organization, host, account?.login ?? '-', status, repositories ?? '-', event, syncText(listed)]
}

function syncText({ sync, last_synced_at }: ListedConnection): string {
  const { state, phase, done, total, error } = sync
  if (state === 'failed') return `failed: ${error ?? 'unknown'}`
  if (state === 'idle') return last_synced_at?.toISOString() ?? '-'
  const progress = done === null ? '' : ` ${total === null ? done : `${done}/${total}`}`
  return `importing${phase === null ? '' : ` ${phase}`}${progress}`
}
