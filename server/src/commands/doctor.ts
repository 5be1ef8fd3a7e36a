import { sessionCookieOf } from '../access/sessions/session-cookie.ts'
import { pendingUpdates } from '../bring-up-to-date.ts'
import { type Config, ConfigError } from '../config.ts'
import { type Database, openDatabase } from '../database.ts'
import { listUncovered } from '../deployments/gates/configure/required-gate.store.ts'
import { openServices } from '../open-services.ts'
import { withoutPassword } from '../platform/db/database-url.ts'
import { type Sql, serverTime, serverVersion } from '../platform/db/sql.ts'
import { queueIsMissing, queueStatus, scheduledRuns } from '../platform/queue/queue.store.ts'
import { listBrokenChains } from '../provenance/chain/break.store.ts'
import { readKmsPublicKey } from '../provenance/keys/kms-key.ts'
import type { Services } from '../services.ts'
import { nameOfChain } from './chain-names.ts'
import { type Context, defineCommand } from './command.ts'
import { describeFailure } from './describe-failure.ts'
import { CODE_HOST_CHECKS } from './doctor-code-hosts.ts'
import { checkBrowserUploads, checkObjects, sendsToBucket } from './doctor-objects.ts'
import { table } from './table.ts'

const MAJOR_MIN = 15
const MAJOR_MAX = 18
const SKEW_MS_MAX = 2000
/** When a job has been due for this long, no worker is running. */
const WAIT_MS_MAX = 10 * 60_000

/** The result of one check. Only the check `database` has a `url`. */
export type Finding = { check: string; ok: boolean; detail: string; url?: string }

export const doctor = defineCommand({
  name: 'doctor',
  about:
    'Checks the settings, database, migrations, object store, worker, clock and connections to code hosts. The server does not have to be running.',
  arguments: [],
  options: {},
  async run(context) {
    const findings = await examine(context)
    const rows = findings.map(({ check, ok, detail }) => [ok ? 'ok' : 'NOT OK', check, detail])
    context.print({ json: findings, text: table(['', 'CHECK', 'DETAIL'], rows, '') })
    const failed = findings.filter(({ ok }) => !ok).map(({ check }) => check)
    if (failed.length > 0) throw new Error(`Not ok: ${failed.join(', ')}`)
  },
})

async function examine(context: Context): Promise<Finding[]> {
  let config: Config
  try {
    config = context.readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ check: 'settings', ok: false, detail: error.mistakes.join('; ') }]
  }
  const detail = `${config.environment}, ${config.baseUrl}, data in ${config.dataDir}${signInHint(config)}`
  return [{ check: 'settings', ok: true, detail }, ...(await checkDatabase(config, context.say))]
}

/** Browsers keep the session cookie over https only, except on loopback. */
function signInHint({ baseUrl }: Config): string {
  const isDropped = sessionCookieOf(baseUrl).secure && baseUrl.startsWith('http:')
  return isDropped ? '. For people to sign in, set SHIPLOCK_BASE_URL to an https address' : ''
}

/**
 * Runs all checks that need the database. When it cannot be opened, `database` is the only result.
 */
async function checkDatabase(config: Config, say: (line: string) => void): Promise<Finding[]> {
  await using opened = new AsyncDisposableStack()
  let database: Database | undefined
  const opening = await find('database', async () => {
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
  const { sql, config } = services
  const url = database.kind === 'embedded' ? database.url : withoutPassword(database.url)
  return [
    { ...(await find('database', () => checkVersion(sql, database.kind))), url },
    await find('migrations', () => checkMigrations(sql)),
    await find('objects', () => checkObjects(services)),
    ...(sendsToBucket(config) ? [await find('uploads from browsers', () => checkBrowserUploads(services))] : []),
    await find('gates', () => checkGates(services)),
    await find('provenance', () => checkChains(services)),
    await find('worker', () => checkQueue(sql)),
    await find('sweepers', () => checkSweepers(services)),
    await find('clock', () => checkClock(services)),
    ...(await findKmsKey(config.signingKmsKey)),
    ...(await findCodeHosts(services)),
  ]
}

async function findKmsKey(name: string | null): Promise<Finding[]> {
  if (name === null) return []
  const examine = async () => {
    await readKmsPublicKey(name)
    return { ok: true, detail: `the key ${name} in AWS KMS can be read` }
  }
  return [await find('signing key', examine)]
}

async function findCodeHosts(services: Services): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { check, examine } of CODE_HOST_CHECKS) findings.push(await find(check, () => examine(services)))
  return findings
}

/** Runs a check. An error that it throws becomes its result. */
async function find(check: string, examine: () => Promise<Omit<Finding, 'check'>>): Promise<Finding> {
  try {
    return { check, ...(await examine()) }
  } catch (error) {
    return { check, ok: false, detail: describeFailure(error) }
  }
}

async function checkVersion(sql: Sql, kind: Database['kind']) {
  const version = await serverVersion(sql)
  const major = Math.floor(version / 10_000)
  const ok = major >= MAJOR_MIN && major <= MAJOR_MAX
  const detail = `${kind} PostgreSQL ${major}.${version % 10_000}`
  return { ok, detail: ok ? detail : `${detail}; versions ${MAJOR_MIN} to ${MAJOR_MAX} are supported` }
}

async function checkMigrations(sql: Sql) {
  const pending = await pendingUpdates(sql)
  const ok = pending.length === 0
  return { ok, detail: ok ? 'up to date' : `pending: ${pending.join(', ')}; run migrate` }
}

/** Deployments that no gate covers wait for a person, without end. */
async function checkGates({ sql }: Services) {
  const uncovered = await listUncovered(sql, null)
  const names = uncovered.map(({ repository_full_name, environment }) => `${environment} of ${repository_full_name}`)
  if (names.length === 0) return { ok: true, detail: 'every waiting deployment has a gate' }
  const listed = [...new Set(names)].join(', ')
  return { ok: false, detail: `deployments wait, but no gate covers ${listed}; run gate create` }
}

/** Reads what verifications have found. It verifies nothing. */
async function checkChains({ sql }: Services) {
  const broken = await listBrokenChains(sql)
  if (broken.length === 0) return { ok: true, detail: 'no chain of change records is broken' }
  const names = await Promise.all(broken.map((chain) => nameOfChain(sql, chain)))
  const listed = broken.map(({ breaks, found_at }, nth) => `${names[nth]} (${breaks}, since ${found_at.toJSON()})`)
  return { ok: false, detail: `chains of change records are broken: ${listed.join(', ')}; run provenance verify` }
}

async function checkQueue(sql: Sql) {
  if (await queueIsMissing(sql)) return { ok: false, detail: 'the queue has no tables yet; run migrate' }
  const { waiting, running, failed, failed_names, oldest_age_ms } = await queueStatus(sql)
  const problems = [
    ...(oldest_age_ms > WAIT_MS_MAX ? ['no worker is running'] : []),
    ...(failed > 0 ? [`${failed} jobs have failed and are not tried again: ${failed_names.join(', ')}`] : []),
  ]
  const oldestSeconds = Math.round(oldest_age_ms / 1000)
  const state = `${waiting} jobs are waiting, the oldest for ${oldestSeconds} s; ${running} are running`
  return { ok: problems.length === 0, detail: [state, ...problems].join('; ') }
}

/** Never fails the installation: scheduled jobs run only while a worker runs. */
async function checkSweepers({ sql, clock }: Services) {
  if (await queueIsMissing(sql)) return { ok: false, detail: 'the queue has no tables yet; run migrate' }
  const runs = await scheduledRuns(sql)
  const details = runs.map(({ name, last_execution }) => `${name} ${lastRun(last_execution, clock.now())}`)
  return { ok: true, detail: details.length > 0 ? details.join(', ') : 'no worker has run yet' }
}

function lastRun(at: Date | null, now: Date): string {
  return at === null ? 'not yet' : `${Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000))} s ago`
}

/** Assumes that the database reads its clock in the middle of the round trip. */
async function checkClock({ sql, clock }: Services) {
  const before = clock.now().getTime()
  const theirs = (await serverTime(sql)).getTime()
  const skewMs = Math.round(theirs - (before + clock.now().getTime()) / 2)
  return { ok: Math.abs(skewMs) < SKEW_MS_MAX, detail: `the database's clock differs by ${skewMs} ms` }
}
