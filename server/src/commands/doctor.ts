import { defineSessionCookie } from '../access/sign-in/session.ts'
import { type Config, ConfigError } from '../config.ts'
import { removePassword } from '../platform/db/client/database-url.ts'
import type { Services } from '../services.ts'
import { type Database, openDatabase } from '../start/database.ts'
import { openServices } from '../start/open-services.ts'
import { type Context, defineCommand, formatTable } from './command.ts'
import { checkVersion, DATABASE_CHECKS, QUEUE_CHECKS, RECORD_CHECKS } from './doctor-database.ts'
import { type Check, type Finding, runCheck, toFinding } from './doctor-finding.ts'
import { CODE_HOST_CHECKS, defineServiceChecks } from './doctor-services.ts'
import { checkSecretKey, defineBackupChecks, defineKmsChecks, defineObjectChecks } from './doctor-storage.ts'

export const doctor = defineCommand({
  name: 'doctor',
  about:
    'Checks the settings, database, secret key, object store, disk, worker, clock, other servers and connections to code hosts, and says what to do about each failure. The server does not have to be running.',
  arguments: [],
  options: {},
  async run(context) {
    const findings = await examine(context)
    const rows = findings.map(({ check, ok, detail }) => [ok ? 'ok' : 'NOT OK', check, detail])
    const steps = collectSteps(findings)
    const todo = steps.length > 0 ? `\n\nWhat to do:${steps.join('')}` : ''
    context.print({ json: findings, text: formatTable(['', 'CHECK', 'DETAIL'], rows, '') + todo })
    const failed = findings.filter(({ ok }) => !ok).map(({ check }) => check)
    if (failed.length > 0) throw new Error(`Not ok: ${failed.join(', ')}`)
  },
})

/** Each step once, after the names of all checks that it repairs. */
function collectSteps(findings: Finding[]): string[] {
  const steps = Map.groupBy(findings, ({ next }) => next)
  return [...steps].flatMap(([next, found]) =>
    next === undefined ? [] : [`\n${found.map(({ check }) => check).join(', ')}: ${next}`],
  )
}

async function examine(context: Context): Promise<Finding[]> {
  let config: Config
  try {
    config = context.readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [toFinding('settings', { ok: false, detail: error.mistakes.join('; ') })]
  }
  const detail = `${config.environment}, ${config.baseUrl}, data in ${config.dataDir}${signInHint(config)}`
  return [toFinding('settings', { ok: true, detail }), ...(await checkDatabase(config, context.say))]
}

/** Browsers keep the session cookie over https only, except on loopback. */
function signInHint({ baseUrl }: Config): string {
  const isDropped = defineSessionCookie(baseUrl).secure && baseUrl.startsWith('http:')
  return isDropped ? '. For people to sign in, set SHIPLOCK_BASE_URL to an https address' : ''
}

/**
 * Runs all checks that need the database. When it cannot be opened, `database` is the only result.
 */
async function checkDatabase(config: Config, say: (line: string) => void): Promise<Finding[]> {
  await using opened = new AsyncDisposableStack()
  let database: Database | undefined
  const opening = await runCheck('database', async () => {
    database = await openDatabase(config, say)
    opened.defer(() => database?.close())
    return { ok: true, detail: '' }
  })
  if (!database) return [opening]
  const { services, close } = await openServices(config, database, {
    applicationName: 'shiplock doctor',
    connections: 1,
  })
  opened.defer(close)
  return await findAll(services, database)
}

async function findAll(services: Services, database: Database): Promise<Finding[]> {
  const { config } = services
  const url = database.kind === 'embedded' ? database.url : removePassword(database.url)
  const findings: Finding[] = [{ ...(await runCheck('database', () => checkVersion(services, database.kind))), url }]
  const checks: readonly Check[] = [
    ...DATABASE_CHECKS,
    { check: 'secret key', examine: checkSecretKey },
    ...defineObjectChecks(config),
    ...RECORD_CHECKS,
    ...QUEUE_CHECKS,
    ...defineBackupChecks(config),
    ...defineKmsChecks(config),
    ...defineServiceChecks(config),
    ...CODE_HOST_CHECKS,
  ]
  for (const { check, examine } of checks) findings.push(await runCheck(check, () => examine(services)))
  return findings
}
