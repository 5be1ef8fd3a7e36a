import { readFile } from 'node:fs/promises'
import { type Options, requireChoice, UsageError } from '@shiplock/command-line/options'
import { COMMAND_LINE } from '../audit/audit.store.ts'
import { APP_PROVIDERS, getCodeHost, PROVIDERS, type Provider } from '../codehosts/catalogue.ts'
import type { HostCredentials } from '../codehosts/code-host.ts'
import { connectInstallation } from '../codehosts/connections/connect-installation.ts'
import {
  findListed,
  type ListedConnection,
  listConnections,
  listWaiting,
} from '../codehosts/connections/connection-list.store.ts'
import { disconnect } from '../codehosts/connections/remove-connection.job.ts'
import { requireHostApp } from '../codehosts/setup/app-setup.ts'
import { listOrganizations } from '../organizations/organization.store.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { defineCommand, formatTable, readStandardInput } from './command.ts'
import { withServices } from './with-services.ts'

/** Secrets are not given as arguments, which other users of the machine can see. */
export const CREDENTIALS = {
  'token-file': { type: 'text', value: 'FILE', about: 'the token of the account ("-": standard input)' },
  'client-id': { type: 'text', value: 'ID', about: 'the id of an OAuth consumer or a service principal' },
  'client-secret-file': { type: 'text', value: 'FILE', about: 'the secret of the client ("-": standard input)' },
  'tenant-id': { type: 'text', value: 'ID', about: 'the Microsoft Entra tenant of a service principal' },
} as const satisfies Options

type GivenCredentials = { [Name in keyof typeof CREDENTIALS]: string | undefined }

const SECRET_CHARS_MAX = 8000

/** Null without any of the options. */
export async function readCredentials(given: GivenCredentials): Promise<HostCredentials | null> {
  const { 'token-file': tokenFile, 'client-id': client_id, 'client-secret-file': secretFile } = given
  const tenant_id = given['tenant-id'] ?? null
  if (tokenFile !== undefined) {
    if (client_id ?? secretFile ?? tenant_id)
      throw new UsageError('Give either --token-file or --client-id and --client-secret-file')
    return { type: 'token', token: await readSecret('token-file', tokenFile) }
  }
  if (client_id === undefined && secretFile === undefined && tenant_id === null) return null
  if (client_id === undefined || secretFile === undefined)
    throw new UsageError('--client-id and --client-secret-file are given together')
  return { type: 'client', client_id, client_secret: await readSecret('client-secret-file', secretFile), tenant_id }
}

async function readSecret(option: string, path: string): Promise<string> {
  if (path === '-') return readStandardInput(SECRET_CHARS_MAX)
  const secret = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`--${option}: ${error.message}`)
  })
  if (secret.trim() === '' || secret.length > SECRET_CHARS_MAX)
    throw new UsageError(`--${option}: the file must have 1 to ${SECRET_CHARS_MAX} characters`)
  return secret.trim()
}

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
    const table = formatTable(HEADING, rows, 'There are no connections and no waiting installations.')
    const refused = connected.flatMap(({ connection }) => formatRefusals(connection))
    const text = [table, ...refused].join('\n')
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

/** What the host of a connection refuses, a line for each list, at most `max` of them. */
export function formatRefusals({ refusals, refusals_total: total, ...of }: ListedConnection, max = Infinity): string[] {
  const lines = refusals.slice(0, max).map(({ repository, list, message, since }) => {
    const answer = message.replaceAll(/\p{Cc}/gu, '?').replace(/\.$/, '')
    return `${repository ?? of.account?.login}: ${list} not read since ${since}: ${answer}`
  })
  return total > lines.length ? [...lines, `${of.account?.login}: ${total - lines.length} more lists not read`] : lines
}

function syncText({ sync, last_synced_at }: ListedConnection): string {
  const { state, phase, done, total, error } = sync
  if (state === 'failed') return `failed: ${error ?? 'unknown'}`
  if (state === 'idle') return last_synced_at?.toISOString() ?? '-'
  const progress = done === null ? '' : ` ${total === null ? done : `${done}/${total}`}`
  return `importing${phase === null ? '' : ` ${phase}`}${progress}`
}

const NAMES = APP_PROVIDERS.map((provider) => getCodeHost(provider).name).join(' or ')

export const providerSetup = defineCommand({
  name: 'provider setup',
  about: `Prints an address at which a person creates the ${NAMES} App. The address works once and for an hour.`,
  arguments: ['provider'],
  options: {
    organization: {
      type: 'text',
      value: 'LOGIN',
      about: `the organization on ${NAMES} that will own the App (default: the account of the person)`,
    },
    'read-only-alerts': {
      type: 'flag',
      value: '',
      about: `do not ask for permission to dismiss security alerts on ${NAMES}`,
    },
    public: { type: 'flag', value: '', about: 'let other accounts install the App too' },
  },
  async run(context, { provider }, { organization, 'read-only-alerts': readOnlyAlerts, public: isPublic }) {
    const known = requireChoice('provider', provider, APP_PROVIDERS)
    const { name } = getCodeHost(known)
    const options = {
      organization: organization ?? null,
      read_only_alerts: readOnlyAlerts,
      public: isPublic,
      org: null,
    }
    const { url, expires_at } = await withServices(context, (services) =>
      requireHostApp(services, known).startSetup(services.sql, options),
    )
    const text = `Open this address in a browser to create the ${name} App. It works once, until ${expires_at.toISOString()}.`
    context.print({ json: { url, expires_at }, text: `${url}\n\n${text}` })
    if (!url.startsWith('https:'))
      context.say(`Note: ${name} sends webhooks only to addresses that it can reach. Set SHIPLOCK_BASE_URL.`)
  },
})
