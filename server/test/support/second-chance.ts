import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { testFilesOf, writePrograms } from './test-processes.ts'

/** More than the processors, because the stories mostly wait. */
const CONCURRENCY = Math.min(6, availableParallelism() + 2)
/** When more files fail, a timing is not the cause. */
const SECOND_CHANCES_MAX = 2
/**
 * Where one failure of many runs is a defect of the product: authorization, tenancy, trust,
 * concurrency and crashes. A file of another name says "No second chance" in a comment.
 */
const NEVER_BY_NAME =
  /authoriz|permission|tenan|roles?[/.-]|trust|token|oidc|sign-in|sso|single-sign-on|provenance|verif|secret|key-revocation|concurren|race|order|crash|kill|lost|interrupted|failover|away|rolling/
const NEVER_BY_MARK = /^\s*(?:\/\/|\*).*\bNo second chance\b/im
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
/** What is said at the end of a run, where it is read. */
type Result = { code: number; notes: string[] }

/**
 * Runs test files. Up to two that fail are run once more, alone on a machine that has become quiet,
 * and are named as flaky if they pass. The exit code is not 0 if a file failed for good.
 */
export async function runWithSecondChance(files: string[], options: RunOptions): Promise<Result> {
  const first = await runNodeTest(files, CONCURRENCY, options)
  if (first.code === 0 || options.stopped.aborted || first.failed.length === 0) return { code: first.code, notes: [] }
  const reason = refusal(first.failed)
  if (reason !== null) return { code: first.code, notes: [`failed: ${first.failed.join(', ')} (${reason})`] }
  console.log(`\nThese files failed. They are run once more, alone: ${first.failed.join(', ')}\n`)
  const second = await runNodeTest(first.failed, 1, options)
  if (options.stopped.aborted) return { code: second.code, notes: [] }
  return { code: second.code, notes: notesOn(first.failed, second.failed) }
}

/** Why the files get no second chance; null if they do. */
function refusal(failed: string[]): string | null {
  if (failed.length > SECOND_CHANCES_MAX)
    return `no second chance: ${failed.length} files, and at most ${SECOND_CHANCES_MAX} get one`
  const never = failed.filter(hasNoSecondChance)
  return never.length === 0 ? null : `no second chance, for what ${never.join(', ')} is about`
}

export function hasNoSecondChance(file: string): boolean {
  return NEVER_BY_NAME.test(file) || NEVER_BY_MARK.test(readFileSync(resolve(ROOT, file), 'utf8'))
}

function notesOn(first: string[], second: string[]): string[] {
  const flaky = first.filter((file) => !second.includes(file))
  const count = `${flaky.length} of at most ${SECOND_CHANCES_MAX} second chances`
  return [
    ...(second.length === 0 ? [] : [`failed twice: ${second.join(', ')}`]),
    ...(flaky.length === 0
      ? []
      : [`flaky: ${flaky.join(', ')} (${count}: failed, see above, and passed when run alone)`]),
  ]
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
