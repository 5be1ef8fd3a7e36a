import { readConfig } from '../src/config.ts'
import { DAY_MS } from '../src/platform/clock.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import { removeExpired } from '../src/retention/remove-expired.ts'
import type { Services } from '../src/services.ts'
import { openServices } from '../src/start/open-services.ts'
import { storeExpiredRuns } from '../test/support/expired-runs.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { newRunMessage } from './ci-runs.ts'
import { latencyP99, type Message, type Target } from './load.ts'
import { environmentOf, type Setting } from './setting.ts'

const ROUNDS = 5
const SECONDS = 8
const PER_SECOND = 30
const RUNS_STORED = 200_000
/** Each key may report 2,000 runs a day. */
const KEYS = 10

/** Deleting what has expired must not be felt. */
export const retentionLatency: Benchmark<Setting>[] = [
  {
    name: 'createCiRun during retention',
    about: `p99 at ${PER_SECOND} requests/s while runs with reports are deleted, beside the same without`,
    unit: 'ms',
    bar: { of: 'ratio', atMost: 1.5 },
    async measure(setting) {
      const keys = await setting.createKeys(KEYS)
      let sent = 0
      const next = () => newRunMessage(keys[sent++ % keys.length] as string)
      return measureBeside(setting, { method: 'POST', url: `${setting.ours.url}/v1/ci/runs` }, next)
    },
  },
  {
    name: 'list of 100 runs during retention',
    about: `p99 at ${PER_SECOND} requests/s while runs with reports are deleted, beside the same without`,
    unit: 'ms',
    bar: { of: 'ratio', atMost: 1.5 },
    measure(setting) {
      const headers = { authorization: `Bearer ${setting.ours.key}` }
      const next = () => ({ path: '/v1/runs?limit=100', headers })
      return measureBeside(setting, { method: 'GET', url: setting.ours.url }, next)
    },
  },
]

const BATCHED = 20_000

/** What partitions by time would save: batches beside dropping tables. */
export const retentionDrop: Benchmark<Setting> = {
  name: 'retention of 20,000 runs',
  about: 'deleted in batches with pauses and with their reports, beside dropping tables with the same rows',
  unit: 'ms',
  bar: null,
  measure: (setting) =>
    withExpired(setting, (services) =>
      interleave(
        2,
        async () => {
          await copyTables(setting.sql)
          return timed(() => removeRuns(services, BATCHED))
        },
        () => timed(() => setting.sql`drop table copied_runs, copied_reports, copied_attestations`.then(() => {})),
      ),
    ),
}

async function removeRuns(services: Services, runs: number): Promise<void> {
  const enough = new AbortController()
  let removed = 0
  const onRemoved = (count: number) => {
    removed += count
    if (removed >= runs) enough.abort()
  }
  const removing = removeExpired(services, { sliceMs: DAY_MS, stopping: enough.signal, onRemoved })
  await removing.catch((error) => {
    if (!enough.signal.aborted) throw error
  })
}

async function measureBeside(
  setting: Setting,
  request: { method: 'GET' | 'POST'; url: string },
  next: () => Message | Target,
) {
  const load = () => latencyP99({ ...request, seconds: SECONDS, perSecond: PER_SECOND }, next)
  return withExpired(setting, async (services) => {
    await load()
    const during = async () => {
      const [latency, result] = await Promise.all([load(), removeExpired(services, { sliceMs: SECONDS * 1000 })])
      if (result !== 'unfinished') throw new Error(`The removal was ${result} before the load ended.`)
      return latency
    }
    return interleave(ROUNDS, during, load)
  })
}

const stored = new WeakMap<Setting, Promise<void>>()

/** With services of this process, whose removal is not part of the server that is measured. */
async function withExpired<Result>(setting: Setting, use: (services: Services) => Promise<Result>): Promise<Result> {
  if (!stored.has(setting)) stored.set(setting, storeExpiredRuns(setting.sql, setting.ours.orgId, RUNS_STORED))
  await stored.get(setting)
  const { host, port, database, user } = setting.sql.options as unknown as Record<string, [never]>
  const address = { host: host?.[0], port: port?.[0], database, user } as never
  const config = readConfig(environmentOf(setting.directory))
  const { services, close } = await openServices(config, { address }, { applicationName: 'retention', connections: 2 })
  try {
    return await use(services)
  } finally {
    await close()
  }
}

const COPIED = { copied_runs: 'ci_runs', copied_reports: 'ci_reports', copied_attestations: 'ci_attestations' }

async function copyTables(sql: Sql): Promise<void> {
  for (const [copy, table] of Object.entries(COPIED)) {
    await sql`create table ${sql(copy)} (like ${sql(table)} including all)`
    await sql`insert into ${sql(copy)} select * from ${sql(table)} limit ${BATCHED}`
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
