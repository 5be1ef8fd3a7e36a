import { listKeysWith } from '../access/api-key.store.ts'
import { listGatesWithProblems } from '../deployments/gates/list-gate-problems.ts'
import { listUncovered } from '../deployments/gates/required-gate.store.ts'
import { listOrganizations } from '../organizations/organization.store.ts'
import { DAY_MS } from '../platform/clock.ts'
import { hasGivenPassword } from '../platform/db/embedded/password.ts'
import { readReplicationState, readServerTime, readServerVersion, type Sql } from '../platform/db/sql.ts'
import { findQueueStatus, isQueueMissing, listScheduledRuns } from '../platform/queue/queue.store.ts'
import { listBrokenChains } from '../provenance/chain/chain.store.ts'
import { findLogState, hasNewestCheckpoint, listPendingEntries } from '../provenance/log/log.store.ts'
import { loadLogKey } from '../provenance/log/log-key.ts'
import { hasMacs, requireAuthenticEntries } from '../provenance/log/log-mac.ts'
import { readTree } from '../provenance/log/sequence-log.ts'
import { verifyRows } from '../provenance/statements/verify-rows.job.ts'
import { findState, listRemoved } from '../retention/retention.store.ts'
import type { Services } from '../services.ts'
import { listPendingUpdates } from '../start/apply-updates.ts'
import { findChainName } from './chain-names.ts'
import { type Check, MIGRATE_FIRST, type Result } from './doctor-finding.ts'

const MAJOR_MIN = 15
const MAJOR_MAX = 18
const SKEW_MS_MAX = 2000
const NAMES_MAX = 5
const GATES_SHOWN_MAX = 50

/** The checks of the database and its server, in the order in which `doctor` shows them. */
export const DATABASE_CHECKS: readonly Check[] = [
  { check: 'migrations', examine: checkMigrations },
  { check: 'replication', examine: checkReplication },
  { check: 'clock', examine: checkClock },
]

export async function checkVersion({ sql }: Services, kind: 'embedded' | 'external'): Promise<Result> {
  const version = await readServerVersion(sql)
  const major = Math.floor(version / 10_000)
  const ok = major >= MAJOR_MIN && major <= MAJOR_MAX
  const detail = `${kind} PostgreSQL ${major}.${version % 10_000}`
  if (kind === 'embedded' && !(await hasGivenPassword(sql)))
    return { ok: false, detail: `${detail} was started without a password`, next: 'Restart Shiplock.' }
  return { ok, detail: ok ? detail : `${detail}; versions ${MAJOR_MIN} to ${MAJOR_MAX} are supported` }
}

async function checkMigrations({ sql }: Services): Promise<Result> {
  const pending = await listPendingUpdates(sql)
  if (pending.length === 0) return { ok: true, detail: 'up to date' }
  const names = pending.length <= NAMES_MAX ? pending.join(', ') : `${pending[0]} … ${pending.at(-1)}`
  return { ok: false, detail: `${pending.length} pending: ${names}` }
}

/** Without the standby that it waits for, a primary commits nothing. */
async function checkReplication({ sql }: Services): Promise<Result> {
  const { is_standby, standbys, waits_for } = await readReplicationState(sql)
  if (is_standby)
    return { ok: false, detail: 'the database is a standby, which stores nothing; connect to the primary' }
  const connected = `${standbys} ${standbys === 1 ? 'standby is' : 'standbys are'} connected`
  if (waits_for !== '' && standbys === 0)
    return { ok: false, detail: `commits wait for a standby (synchronous_standby_names is ${waits_for}); ${connected}` }
  return { ok: true, detail: `primary; ${connected}` }
}

/** Assumes that the database reads its clock in the middle of the round trip. */
async function checkClock({ sql, clock }: Services): Promise<Result> {
  const before = clock.now().getTime()
  const theirs = (await readServerTime(sql)).getTime()
  const skewMs = Math.round(theirs - (before + clock.now().getTime()) / 2)
  return { ok: Math.abs(skewMs) < SKEW_MS_MAX, detail: `the database's clock differs by ${skewMs} ms` }
}

/** When a job has been due for this long, no worker is running. */
const WAIT_MS_MAX = 10 * 60_000
/** A daily run of retention has been missed, and so has the one after the start. */
const RETENTION_LATE_MS = 2 * DAY_MS

export const QUEUE_CHECKS: readonly Check[] = [
  { check: 'worker', examine: unlessMissing(checkQueue) },
  { check: 'sweepers', examine: unlessMissing(checkSweepers) },
  { check: 'retention', examine: checkRetention },
]

function unlessMissing(examine: Check['examine']): Check['examine'] {
  return async (services) => ((await isQueueMissing(services.sql)) ? MIGRATE_FIRST : examine(services))
}

async function checkQueue({ sql }: { sql: Sql }): Promise<Result> {
  const { waiting, running, failed, failed_names, oldest_age_ms } = await findQueueStatus(sql)
  const problems = [
    ...(oldest_age_ms > WAIT_MS_MAX ? ['no worker is running'] : []),
    ...(failed > 0 ? [`${failed} jobs have failed and are not tried again: ${failed_names.join(', ')}`] : []),
  ]
  const oldestSeconds = Math.round(oldest_age_ms / 1000)
  const state = `${waiting} jobs are waiting, the oldest for ${oldestSeconds} s; ${running} are running`
  return { ok: problems.length === 0, detail: [state, ...problems].join('; ') }
}

/** Never fails the installation: scheduled jobs run only while a worker runs. */
async function checkSweepers({ sql, clock }: Services): Promise<Result> {
  const runs = await listScheduledRuns(sql)
  const details = runs.map(({ name, last_execution }) => `${name} ${lastRun(last_execution, clock.now())}`)
  return { ok: true, detail: details.length > 0 ? details.join(', ') : 'no worker has run yet' }
}

/** The figures of the last removal of what has expired. */
async function checkRetention({ sql, clock }: Services): Promise<Result> {
  const state = await findState(sql)
  if (state === null) return { ok: true, detail: 'has not run yet; a worker runs it daily' }
  const { started_at, finished_at, is_finished } = state
  const removed = (await listRemoved(sql)).reduce((total, kind) => total + kind.removed_in_run, 0)
  const ok = clock.now().getTime() - (finished_at ?? started_at).getTime() <= RETENTION_LATE_MS
  const last = is_finished ? `last run ended ${finished_at?.toJSON()}` : `running since ${started_at.toJSON()}`
  return { ok, detail: `${last}, ${removed} rows removed${ok ? '' : '; it is overdue'}` }
}

function lastRun(at: Date | null, now: Date): string {
  return at === null ? 'not yet' : `${Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000))} s ago`
}

/** The checks of what the installation has stored. */
export const RECORD_CHECKS: readonly Check[] = [
  { check: 'gates', examine: checkGates },
  { check: 'provenance', examine: checkChains },
  { check: 'statements', examine: checkStatements },
  { check: 'log', examine: checkLog },
]

/** Deployments that no gate covers wait for a person, without end. */
async function checkGates(services: Services): Promise<Result> {
  const { sql } = services
  const uncovered = await listUncovered(sql, null)
  const names = uncovered.map(({ repository_full_name, environment }) => `${environment} of ${repository_full_name}`)
  if (names.length > 0)
    return { ok: false, detail: `deployments wait, but no gate covers ${[...new Set(names)].join(', ')}` }
  return { ok: true, detail: ['every waiting deployment has a gate', ...(await describeProblems(services))].join('; ') }
}

/** Gates and keys that people should look at. They are no failure, because each can be meant. */
async function describeProblems({ sql, clock }: Services): Promise<string[]> {
  const found: string[] = []
  for (const { id, slug } of await listOrganizations(sql)) {
    const gates = await listGatesWithProblems(sql, id)
    const keys = await listKeysWith(sql, id, ['write:ci', 'write:deployments'], clock.now())
    for (const { name, problems } of gates)
      found.push(...problems.map((problem) => `the gate "${name}" of ${slug} ${problem}`))
    found.push(...keys.map((name) => `the key "${name}" of ${slug} has write:ci, so that it answers no opened gate`))
  }
  const more = found.length - GATES_SHOWN_MAX
  return more > 0 ? [...found.slice(0, GATES_SHOWN_MAX), `and ${more} more`] : found
}

/** Reads what verifications have found. It verifies nothing. */
async function checkChains({ sql }: Services): Promise<Result> {
  const broken = await listBrokenChains(sql)
  if (broken.length === 0) return { ok: true, detail: 'no chain of change records is broken' }
  const names = await Promise.all(broken.map((chain) => findChainName(sql, chain)))
  const listed = broken.map(({ breaks, found_at }, nth) => `${names[nth]} (${breaks}, since ${found_at.toJSON()})`)
  return { ok: false, detail: `chains of change records are broken: ${listed.join(', ')}` }
}

/** Each costs a third of a millisecond. The daily job and `provenance verify` verify all. */
const STATEMENTS_MAX = 20_000
const FORGED_SHOWN_MAX = 5

/** Verifies signing keys, and issued statements up to a number. */
async function checkStatements(services: Services): Promise<Result> {
  const { keys, statements, breaks, isComplete } = await verifyRows(services, { statementsMax: STATEMENTS_MAX })
  const listed = breaks.slice(0, FORGED_SHOWN_MAX).map(({ part, resource }) => `${part} ${resource}`)
  if (breaks.length > 0)
    return { ok: false, detail: `${breaks.length} rows were not stored by this server: ${listed.join(', ')}` }
  const rest = isComplete ? '' : '; "provenance verify" verifies the others'
  const open = (await hasMacs(services, services.sql))
    ? ''
    : '; what an earlier version has stored is authenticated daily at 03:11'
  return { ok: true, detail: `${keys} signing keys and ${statements} issued statements verify${rest}${open}` }
}

const PENDING_MAX = 4096

/**
 * Reads what the next entry of the transparency log is appended to. What is wrong with it is
 * thrown.
 */
async function checkLog(services: Services): Promise<Result> {
  const earlier = await findLogState(services.sql)
  const key = await loadLogKey(services)
  if (key === null && earlier.size === null) return { ok: true, detail: 'has no entries yet' }
  if (key === null) return { ok: false, detail: 'its key is lost' }
  // A log that is created meanwhile has not lost its checkpoint.
  const state = await findLogState(services.sql)
  await readTree(services, services.sql, key, state)
  await requireAuthenticEntries(services, services.sql, await listPendingEntries(services.sql, PENDING_MAX))
  if (hasNewestCheckpoint(state)) return { ok: true, detail: `its newest checkpoint has ${state.size} entries` }
  const left = state.size === null ? 'none is stored' : `the newest that is stored has ${state.size}`
  return { ok: false, detail: `the checkpoint of its ${state.length} entries is lost; ${left}` }
}
