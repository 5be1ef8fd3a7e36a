import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startTestServer, type TestServer } from './database.ts'
import { makeScratchDirectory } from './scratch-directory.ts'
import { type RunOptions, runWithSecondChance } from './second-chance.ts'
import { SECRETS_DIRECTORY } from './secrets/collected-logs.ts'
import { reportLeaks } from './secrets/report-leaks.ts'

/** The files that take longest are started first, in this order. */
const LONG = ['/stories/hosts/', '/stories/', '/operations/', '/runbook/', '/upgrade/']
export const ROOT = new URL('../../..', import.meta.url).pathname
/** Notes the secrets that a test file sends and receives. */
const WATCH = new URL('./secrets/watch-fetch.ts', import.meta.url).href

type Options = {
  /** Go to `node --test` as they are. */
  flags?: string[]
  env?: Record<string, string>
  startServer?: (() => Promise<TestServer>) | undefined
}

/**
 * Runs test files on a PostgreSQL server of their own. Those that fail may get a second chance.
 * Afterwards, no log may contain a secret that a test has made. Returns the exit code.
 */
export async function runTestFiles(files: string[], options: Options = {}): Promise<number> {
  const { flags = [], env = {}, startServer = startTestServer } = options
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort())
  const scratch = await makeScratchDirectory()
  const { TMPDIR } = process.env
  process.env.TMPDIR = scratch
  try {
    const settings = { flags: [`--import=${WATCH}`, ...flags], env, stopped: stopped.signal }
    return await runIn(scratch, files.toSorted(byLength), settings, await startServer())
  } finally {
    await rm(scratch, { recursive: true, force: true })
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

async function runIn(scratch: string, files: string[], settings: RunOptions, server: TestServer): Promise<number> {
  const { stopped } = settings
  const collected = join(scratch, 'logs')
  const shared = {
    SHIPLOCK_TEST_DATABASE_URL: server.url,
    // Kept for the next run: a process that finds no compiled modules takes a second longer.
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled-tests'),
    [SECRETS_DIRECTORY]: collected,
    ...server.env,
  }
  try {
    await mkdir(collected)
    const { code, notes } = await runWithSecondChance(files, { ...settings, env: { ...settings.env, ...shared } })
    const leaks = stopped.aborted ? 0 : await reportLeaks(collected, server.logFile === null ? [] : [server.logFile])
    for (const note of notes) console.log(note)
    return code === 0 && leaks > 0 ? 1 : code
  } finally {
    await server.close()
  }
}

function byLength(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a < b ? -1 : 1)
}

function rankOf(file: string): number {
  const rank = LONG.findIndex((folder) => file.includes(folder))
  return rank === -1 ? LONG.length : rank
}
