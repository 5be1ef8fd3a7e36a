import { setTimeout as delay } from 'node:timers/promises'
import { migrate } from '../src/platform/db/migrations/migrate.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import type { Benchmark, Round } from './benchmark.ts'
import { withEarlierDatabase } from './earlier-database.ts'
import type { Setting } from './setting.ts'

const PAUSE_MS = 5
const QUIET_MS = 10_000

/** The schemas that are upgraded. */
const SCHEMAS = [{ last: '0001', about: 'the schema of the first release' }] as const

/** `migrate` with 1,000,000 findings, while a process reads and another one writes them. */
export const upgrades: Benchmark<Setting>[] = SCHEMAS.flatMap(({ last, about }): Benchmark<Setting>[] => [
  upgrade(last, 'time', `beside a copy that nobody uses; ${about}`),
  upgrade(last, 'longest read', `beside 10 s without an upgrade; ${about}`),
  upgrade(last, 'longest write', `beside 10 s without an upgrade; ${about}`),
])

type Figure = 'time' | 'longest read' | 'longest write'

function upgrade(last: string, figure: Figure, about: string): Benchmark<Setting> {
  return {
    name: `upgrade from ${last}: ${figure}`,
    about: `1,000,000 findings, ${about}`,
    unit: 'ms',
    bar: null,
    onlyByName: true,
    measure: async (setting) => [(await measureOnce(setting, last))[figure]],
  }
}

const measured = new WeakMap<Setting, Map<string, Promise<Record<Figure, Round>>>>()

/** The figures of one schema are of one upgrade. */
function measureOnce(setting: Setting, last: string): Promise<Record<Figure, Round>> {
  const known = measured.get(setting) ?? new Map()
  measured.set(setting, known)
  const measuring = known.get(last) ?? measure(setting, last)
  known.set(last, measuring)
  return measuring
}

function measure(setting: Setting, last: string): Promise<Record<Figure, Round>> {
  return withEarlierDatabase(setting, last, async (copy) => {
    const unused = await copy((sql) => timed(() => migrate(sql)))
    return copy(async (sql) => {
      const quiet = await besideWaits(sql, () => delay(QUIET_MS))
      const busy = await besideWaits(sql, () => migrate(sql))
      return {
        time: { ours: busy.ms, bare: unused },
        'longest read': { ours: busy.read, bare: quiet.read },
        'longest write': { ours: busy.write, bare: quiet.write },
      }
    })
  })
}

/** Does something while findings are read and written, and returns the longest waits. */
async function besideWaits(sql: Sql, work: () => Promise<unknown>) {
  const ended = new AbortController()
  const read = repeat(ended.signal, () => sql`select id, title, severity from findings order by org_id, id limit 100`)
  const write = repeat(
    ended.signal,
    () => sql`
      update findings set updated_at = now()
      where (org_id, id) = (select org_id, id from findings order by org_id, id limit 1)`,
  )
  const ms = await timed(work).finally(() => ended.abort())
  return { ms, read: await read, write: await write }
}

/** Returns the longest time of a statement. */
async function repeat(ended: AbortSignal, statement: () => Promise<unknown>): Promise<number> {
  let longest = 0
  while (!ended.aborted) {
    longest = Math.max(longest, await timed(statement))
    await delay(PAUSE_MS)
  }
  return longest
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
