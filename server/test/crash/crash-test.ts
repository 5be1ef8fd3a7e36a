import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from '../../src/platform/seeded-random.ts'
import { ProgressBar } from '../../src/start/terminal.ts'
import { findLosses } from './checks/acknowledged.ts'
import { findBreaks, findInconsistencies } from './checks/consistency.ts'
import { findLeftBehind } from './checks/left-behind.ts'
import { type Access, Client } from './client.ts'
import { githubSettings, HostLoad } from './host-load.ts'
import { Installation } from './installation.ts'
import { readJournal } from './journal.ts'
import { killRepeatedly } from './kills.ts'
import type { LoadOptions } from './load-program.ts'
import type { CrashResult } from './result.ts'
import { untilSettled } from './settled.ts'
import { signUp } from './sign-up.ts'

const LOAD = new URL('./load-program.ts', import.meta.url).pathname

const INTERRUPTED = 130

type Say = (line: string) => void

/** The whole test, in a temporary directory. */
export async function crashTest(options: { kills: number; seed: number }, say: Say): Promise<CrashResult> {
  const startedAt = performance.now()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-crash-'))
  const host = await HostLoad.create()
  const installation = await Installation.create(join(directory, 'data'), githubSettings(host.fake))
  const cleanUp = async () => {
    await installation.kill()
    await rm(directory, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(INTERRUPTED)))
  try {
    say(`Seed ${options.seed}. Starting the program`)
    const access = await signUp(installation)
    await host.connect(installation)
    const journal = join(directory, 'acknowledged.jsonl')
    const recoveries = await underLoad({ access, journal, seed: options.seed }, host, () =>
      kill(installation, options, say),
    )
    const verified = await verify({ installation, host, access, journal }, say)
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    return { ...options, recoveries: summarize(recoveries), ...verified, seconds }
  } finally {
    await host.fake.close()
    await cleanUp()
  }
}

async function kill(installation: Installation, { kills, seed }: { kills: number; seed: number }, say: Say) {
  const progress = new ProgressBar(say)
  const onKill = (done: number) => progress.reach(done, kills, 'kills')
  const recoveries = await killRepeatedly(installation, new SeededRandom(seed), { kills, onKill })
  progress.end()
  return recoveries
}

/** The load runs until `during` has ended, and then finishes what it began. */
async function underLoad<Result>(load: LoadOptions, host: HostLoad, during: () => Promise<Result>): Promise<Result> {
  const child: ChildProcess = spawn(process.execPath, [LOAD, JSON.stringify(load)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const merging = host.run(new SeededRandom(load.seed + 1))
  try {
    const result = await during()
    host.stop()
    if (child.connected) child.send('stop')
    const [code] = await ended
    if (code !== 0) throw new Error(`The load ended with the code ${code}.`)
    return result
  } finally {
    child.kill('SIGKILL')
    host.stop()
    await merging
  }
}

type Ended = { installation: Installation; host: HostLoad; access: Access; journal: string }

/** A restart reads what webhooks did not deliver from the code host. */
async function verify({ installation, host, access, journal }: Ended, say: Say) {
  say('Restarting, and waiting for the work that is left')
  await host.fake.webhooks.settled()
  await installation.stop()
  await installation.start()
  const sql = await installation.openSql()
  try {
    const open = await untilSettled(sql, (left, first) => say(`${left} things left to do, such as ${first}`))
    const { writes, entries } = readJournal(journal)
    say(`Reading back ${entries.length} objects of ${writes} acknowledged writes`)
    const lost = await findLosses(new Client(access), entries)
    const inconsistent = await findInconsistencies(sql, host.merged)
    const provenance = await findBreaks(installation)
    await sql.end()
    await installation.stop()
    const leftBehind = await findLeftBehind(installation)
    const unsettled = open.map((id) => ({ kind: 'unfinished', id, expected: null, found: id }))
    return {
      acknowledged: writes,
      checked: Object.fromEntries([...Map.groupBy(entries, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length])),
      changes: host.merged.length,
      links: provenance.links,
      losses: [...unsettled, ...lost, ...inconsistent, ...provenance.losses, ...leftBehind],
    }
  } finally {
    await sql.end()
  }
}

function summarize(recoveries: number[]): CrashResult['recoveries'] {
  const sorted = recoveries.toSorted((a, b) => a - b)
  const median_ms = Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)
  return { count: sorted.length, median_ms, max_ms: Math.round(sorted.at(-1) ?? 0) }
}
