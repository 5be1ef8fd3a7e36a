import { readReplicationState, readServerTime, readServerVersion } from '../platform/db/sql.ts'
import type { Services } from '../services.ts'
import { listPendingUpdates } from '../start/bring-up-to-date.ts'
import type { Check, Result } from './doctor-finding.ts'

const MAJOR_MIN = 15
const MAJOR_MAX = 18
const SKEW_MS_MAX = 2000
const NAMES_MAX = 5

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
