import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { testFilesOf, writePrograms } from './test-processes.ts'

/** More than the processors, because the stories mostly wait. */
const CONCURRENCY = Math.min(6, availableParallelism() + 2)
/** When more files fail, a timing is not the cause, and to run them alone takes long. */
const SECOND_CHANCES_MAX = 10
/** Flags that select tests by their names, among which the names of files would be. */
const SELECTS = /^--test-(?:name|skip)-pattern|^--test-only/
const ROOT = new URL('../../..', import.meta.url).pathname
const FAILED_FILES = new URL('failed-files.ts', import.meta.url).href

export type RunOptions = {
  /** Go to `node --test` as they are. */
  flags: string[]
  env: Record<string, string>
  stopped: AbortSignal
}
type Outcome = { code: number; failed: string[] }

/**
 * Runs test files. Those that fail are run once more, alone on a machine that has become quiet, and
 * are named as flaky if they pass. Returns the exit code, which is not 0 if a file failed twice.
 */
export async function runWithSecondChance(files: string[], options: RunOptions): Promise<number> {
  const first = await runNodeTest(files, CONCURRENCY, options)
  const { length } = first.failed
  if (first.code === 0 || options.stopped.aborted || length === 0 || length > SECOND_CHANCES_MAX) return first.code
  console.log(`\nThese files failed. They are run once more, alone: ${first.failed.join(', ')}\n`)
  const second = await runNodeTest(first.failed, 1, options)
  const flaky = first.failed.filter((file) => !second.failed.includes(file))
  if (options.stopped.aborted) return second.code
  if (second.failed.length > 0) console.log(`failed twice: ${second.failed.join(', ')}`)
  if (flaky.length > 0) console.log(`flaky: ${flaky.join(', ')} (failed, see above, and passed when run alone)`)
  return second.code
}

async function runNodeTest(
  files: string[],
  concurrency: number,
  { flags, env, stopped }: RunOptions,
): Promise<Outcome> {
  if (stopped.aborted) return { code: 130, failed: [] }
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-processes-'))
  const list = join(directory, 'failed')
  try {
    const isAlone = concurrency === 1 || flags.some((flag) => SELECTS.test(flag))
    const paths = files.map((file) => resolve(ROOT, file))
    const processes = await writePrograms(paths, directory, isAlone ? () => null : undefined)
    const reporters = [...reporter('spec', 'stdout'), ...reporter(FAILED_FILES, list)]
    const programs = processes.map(({ program }) => program)
    const args = ['--test', `--test-concurrency=${concurrency}`, ...reporters, ...flags, ...programs]
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } })
    const stop = () => child.kill('SIGTERM')
    stopped.addEventListener('abort', stop, { once: true })
    const [code] = await once(child, 'exit')
    stopped.removeEventListener('abort', stop)
    const lines = (await readFile(list, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
    const failed = lines.flatMap((line) => testFilesOf(JSON.parse(line), processes))
    return {
      code: stopped.aborted ? 130 : (code ?? 1),
      failed: [...new Set(failed.map((file) => relative(ROOT, resolve(ROOT, file))))],
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const reporter = (name: string, destination: string) => [
  `--test-reporter=${name}`,
  `--test-reporter-destination=${destination}`,
]
