import { createSetupLink, type SetupLink } from '../access/links/account-links.ts'
import { createFirstOrganization, type FirstOrganization } from '../access/manage-access.ts'
import type { Config } from '../config.ts'
import { toBrowserAddress } from '../platform/loopback.ts'
import { applyUpdates, requireMigrated } from '../start/apply-updates.ts'
import { openDatabase } from '../start/database.ts'
import { openApi, serve } from '../start/serve.ts'
import { startWorkerThread } from '../start/work-in-thread.ts'
import { type Context, defineCommand, waitForStop } from './command.ts'

export const start = defineCommand({
  name: 'start',
  about: 'Runs the API and the worker in one process, on an embedded PostgreSQL unless DATABASE_URL is set.',
  arguments: [],
  options: {},
  run: runUntilStopped,
})

async function runUntilStopped({ readSettings, say, print }: Context): Promise<void> {
  const settings = readSettings()
  const stopped = waitForStop()
  await using opened = new AsyncDisposableStack()

  say(settings.databaseUrl === null ? `Starting PostgreSQL on ${settings.dataDir}` : 'Connecting to PostgreSQL')
  const database = await openDatabase(settings, say)
  opened.defer(() => database.close())
  await database.claim()
  const { services, port } = await openApi(settings, database, opened)
  const { config } = services
  const applied = await applyUpdates(services.sql, say)
  if (applied.length > 0) say(`Migrated the database: applied ${applied.length} migrations`)

  const api = await serve(services, port)
  opened.defer(() => api.close())
  const first = await createFirstOrganization(services)
  // The link opens a page of the console.
  const setup = config.console === null ? null : await createSetupLink(services)
  const text = [describeConsoleStep(config, setup), first ? describeFirstSteps(first, config.baseUrl) : ''].join('')
  const { metricsUrl } = api
  const addresses = { url: config.baseUrl, ...(metricsUrl && { metrics_url: metricsUrl }) }
  print({ json: { ...addresses, ...first, ...(setup && { setup }) }, text })
  say(`Shiplock is listening at ${config.baseUrl}`)
  if (metricsUrl) say(`Metrics are served at ${metricsUrl}/metrics`)
  // Last, so that loading the worker does not delay the API on a small machine.
  const { url, address } = database
  const worker = startWorkerThread({ config, database: { url, address } }, { log: services.log })
  opened.defer(() => worker.close())

  await stopped
  say('Stopping: finishing the requests and jobs in progress')
  await Promise.all([api.close(), worker.close()])
}

/** How people get in: the setup link at every start at which there is no Org admin. */
export function describeConsoleStep({ baseUrl, console: builtConsole }: Config, setup: SetupLink | null): string {
  if (builtConsole === null)
    return `
The console is off (SHIPLOCK_CONSOLE). The API and the commands of npx shiplock-server --help work without it.
`
  const address = toBrowserAddress(baseUrl)
  if (setup === null) return `\nOpen the console:\n\n  ${address}\n`
  return `
Open the console at ${address}

This link makes the first Org admin of the organization "${setup.organization}". It can be used once, until ${setup.expires_at.toISOString()}:

  ${setup.link}
`
}

/** An example; any 40 hexadecimal characters are valid. */
const COMMIT = '8c5f0e1d2b3a49586776655443322110ffeeddcc'

/** The text of a first start: the key, and two example calls that work as printed. */
export function describeFirstSteps({ organization, key }: FirstOrganization, baseUrl: string): string {
  const run = {
    ci_system: 'my-ci',
    external_run_id: '1',
    repository: 'github.com/acme/shop',
    commit_sha: COMMIT,
    pipeline_name: 'build',
  }
  return `
Created the organization "${organization.slug}" and an API key with every scope. This is the only time that the key is shown:

  ${key.key}

Create a first CI run:

  curl -sS ${baseUrl}/v1/ci/runs \\
    -H 'Authorization: Bearer ${key.key}' \\
    -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(run)}'

List the runs:

  curl -sS ${baseUrl}/v1/runs -H 'Authorization: Bearer ${key.key}'

The key opens deployment gates and answers none of them. Answer gates in the console, or with a key that opens none:

  npx shiplock-server key create --org ${organization.slug} --name approver --scope write:deployments
`
}

export const server = defineCommand({
  name: 'server',
  about: 'Runs the API only. "worker" runs the background jobs.',
  arguments: [],
  options: {},
  run: serveUntilStopped,
})

async function serveUntilStopped({ readSettings, say, print }: Context): Promise<void> {
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
