import { pendingUpdates } from '../bring-up-to-date.ts'
import type { Config } from '../config.ts'
import { type Database, openDatabase } from '../database.ts'
import { openServices } from '../open-services.ts'
import { withoutPassword } from '../platform/db/database-url.ts'
import { serverTime, serverVersion } from '../platform/db/server-facts.ts'
import type { Sql } from '../platform/db/sql.ts'
import { queueIsMissing, queueStatus, scheduledRuns } from '../platform/queue/queue.store.ts'
import type { Services } from '../services.ts'
import { type Finding, find } from './finding.ts'

const MAJOR_MIN = 15
const MAJOR_MAX = 18
const SKEW_MS_MAX = 2000
/** A job that waits this long has nobody to work on it. */
const WAIT_MS_MAX = 10 * 60_000

/** Everything behind the settings. Where the database does not even open, the rest cannot be said. */
export async function checkDatabase(config: Config, say: (line: string) => void): Promise<Finding[]> {
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
  const { sql, objects, config } = services
  const url = database.kind === 'embedded' ? database.url : withoutPassword(database.url)
  return [
    { ...(await find('database', () => checkVersion(sql, database.kind))), url },
    await find('migrations', () => checkMigrations(sql)),
    await find('objects', async () => {
      await objects.check()
      return {
        ok: true,
        detail: `${config.s3 ? `the bucket ${config.s3.bucket}` : 'the data directory'} can be written to`,
      }
    }),
    await find('worker', () => checkQueue(sql)),
    await find('sweepers', () => checkSweepers(services)),
    await find('clock', () => checkClock(services)),
  ]
}

async function checkVersion(sql: Sql, kind: Database['kind']) {
  const version = await serverVersion(sql)
  const major = Math.floor(version / 10_000)
  const ok = major >= MAJOR_MIN && major <= MAJOR_MAX
  const detail = `${kind} PostgreSQL ${major}.${version % 10_000}`
  return { ok, detail: ok ? detail : `${detail}; supported are ${MAJOR_MIN} to ${MAJOR_MAX}` }
}

async function checkMigrations(sql: Sql) {
  const pending = await pendingUpdates(sql)
  const ok = pending.length === 0
  return { ok, detail: ok ? 'up to date' : `pending: ${pending.join(', ')}; run migrate` }
}

async function checkQueue(sql: Sql) {
  if (await queueIsMissing(sql)) return { ok: false, detail: 'the queue has no tables yet; run migrate' }
  const { waiting, running, failed, failed_names, oldest_age_ms } = await queueStatus(sql)
  const problems = [
    ...(oldest_age_ms > WAIT_MS_MAX ? ['nobody works on the queue'] : []),
    ...(failed > 0 ? [`${failed} jobs failed for good: ${failed_names.join(', ')}`] : []),
  ]
  const standing = `${waiting} jobs wait, the oldest for ${Math.round(oldest_age_ms / 1000)} s; ${running} are running`
  return { ok: problems.length === 0, detail: [standing, ...problems].join('; ') }
}

/** They run every minute or every hour where a worker runs; that none runs is no fault of what is installed. */
async function checkSweepers({ sql, clock }: Services) {
  if (await queueIsMissing(sql)) return { ok: false, detail: 'the queue has no tables yet; run migrate' }
  const runs = await scheduledRuns(sql)
  const told = runs.map(({ name, last_execution }) => `${name} ${lastRun(last_execution, clock.now())}`)
  return { ok: true, detail: told.length > 0 ? told.join(', ') : 'no worker has run yet' }
}

function lastRun(at: Date | null, now: Date): string {
  return at === null ? 'not yet' : `${Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000))} s ago`
}

/** Half the round trip is given to the way there: the middle of the two readings is when the database read its own. */
async function checkClock({ sql, clock }: Services) {
  const before = clock.now().getTime()
  const theirs = (await serverTime(sql)).getTime()
  const skewMs = Math.round(theirs - (before + clock.now().getTime()) / 2)
  return { ok: Math.abs(skewMs) < SKEW_MS_MAX, detail: `the database's clock differs by ${skewMs} ms` }
}
