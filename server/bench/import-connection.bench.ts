import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { openEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import type { Benchmark, Round } from './benchmark.ts'
import type { BulkHost } from './bulk-host.ts'
import { startProgram } from './child-program.ts'
import { onNewDirectory } from './new-directory.ts'
import { environmentOf } from './setting.ts'

const REPOSITORIES = 1000
const RUNS_PER_REPOSITORY = 100
const LATENCY_MS = 100
const IMPORT_MS_MAX = 30 * 60_000
const LOOK_EVERY_MS = 250
const MIB = 2 ** 20

/** The first import of a connection, from `provider connect` until it is idle. */
export const importConnection: Benchmark<unknown>[] = [
  {
    name: 'import of 20 repositories of a code host',
    about: 'with 2,000 runs, answers after 100 ms, by one worker, beside twice the import of 10 repositories',
    unit: 'ms',
    bar: null,
    measure: async () => {
      const [half, all] = [await importRepositories(10), await importRepositories(20)]
      return [{ ours: all.ms, bare: 2 * half.ms }]
    },
  },
  {
    name: 'import of 100,000 runs of a code host',
    about: '1,000 repositories, answers after 100 ms, by one worker, beside ten times the import of 100 repositories',
    unit: 'ms',
    bar: { of: 'ours', atMost: 15 * 60_000 },
    onlyByName: true,
    measure: async () => [(await measured()).time],
  },
  {
    name: 'memory for the import of 100,000 runs',
    about: 'of the worker at most, beside the import of 100 repositories',
    unit: 'MiB',
    bar: { of: 'ratio', atMost: 1.3 },
    onlyByName: true,
    measure: async () => [(await measured()).memory],
  },
]

type Imported = { ms: number; mib: number }
let measuring: Promise<{ time: Round; memory: Round }> | null = null

function measured() {
  measuring ??= measure()
  return measuring
}

async function measure(): Promise<{ time: Round; memory: Round }> {
  const few = await importRepositories(REPOSITORIES / 10)
  const all = await importRepositories(REPOSITORIES)
  return { time: { ours: all.ms, bare: 10 * few.ms }, memory: { ours: all.mib, bare: few.mib } }
}

function importRepositories(count: number): Promise<Imported> {
  return onNewDirectory(async (directory) => {
    await using opened = new AsyncDisposableStack()
    const sizes = JSON.stringify({ repositories: count, runsPerRepository: RUNS_PER_REPOSITORY })
    const host = await startProgram<BulkHost>(['./bulk-host.ts', sizes, String(LATENCY_MS)], {})
    opened.defer(host.stop)
    const postgres = await openEmbeddedPostgres({ dataDir: directory })
    opened.defer(() => postgres.close())
    const sql = openSql(postgres.connection, { max: 1, applicationName: 'bench' })
    opened.defer(() => sql.end())
    const environment = { ...environmentOf(directory), ...host.ready.environment }
    const command = async (...args: string[]) =>
      (await startProgram(['../src/main.ts', ...args, '--json'], environment)).stop()
    await command('migrate')
    await command('org', 'create', 'bench')
    const worker = await startProgram(['../src/main.ts', 'worker', '--json'], environment)
    opened.defer(worker.stop)
    const startedAt = performance.now()
    await command(
      'provider',
      'connect',
      '--org',
      'bench',
      '--provider',
      'github',
      '--installation',
      host.ready.installation,
    )
    await untilImported(sql)
    const ms = performance.now() - startedAt
    await requireRuns(sql, count * RUNS_PER_REPOSITORY)
    return { ms, mib: await peakMib(worker.pid) }
  })
}

async function untilImported(sql: Sql): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < IMPORT_MS_MAX) {
    const [row] = await sql<{ done: boolean; error: string | null }[]>`
      select last_synced_at is not null as done, sync_error as error
      from codehost_connections`
    if (row?.error) throw new Error(`the import failed: ${row.error}`)
    if (row?.done) return
    await delay(LOOK_EVERY_MS)
  }
  throw new Error(`the import did not end within ${IMPORT_MS_MAX / 60_000} minutes`)
}

async function requireRuns(sql: Sql, expected: number): Promise<void> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int as count from ci_runs where trust = 'verified'`
  if (row.count !== expected) throw new Error(`${row.count} of ${expected} runs were imported`)
}

/** The most memory that a process has held, in MiB (proc_pid_status(5)). */
async function peakMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / MIB
}
