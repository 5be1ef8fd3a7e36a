import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { runCommandLine } from '../../src/commands/run-command-line.ts'
import { copyClusterTemplate } from './cluster-template.ts'
import { endWithTest } from './end-with-test.ts'
import { collectedFile, collectOutput } from './secrets/collected-logs.ts'
import { noteDataDirectory, notePrinted, noteSettings } from './secrets/note-secrets.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

// biome-ignore lint/suspicious/noExplicitAny: tests look into what a command printed as they like
type Printed = any

type Ended = { code: number | null; stdout: string; stderr: string; json: Printed }

/**
 * Commands that start no process, hold no files open and take no signals. They run in the process
 * of the test, because a new one takes ten times longer to load them than to run them.
 */
const RUN_HERE = [
  ...[
    'org create',
    'org list',
    'org set-plan',
    'org set',
    'key',
    'user',
    'trust',
    'repo',
    'provider',
    'gate',
    'policy',
    'alert',
  ],
  ...['change', 'signing-key', 'provenance', 'retention', 'intel status', 'doctor'],
]

/** Runs the server program to its end. Settings of the caller's own environment do not reach it. */
export async function runProgram(
  dataDir: string,
  args: string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Ended> {
  const command = args.slice(0, 2).join(' ')
  const isHere = input === '' && !args.includes('-') && RUN_HERE.some((name) => `${command} `.startsWith(`${name} `))
  return isHere ? runHere(dataDir, args, env) : runAsProcess(dataDir, args, env, input)
}

async function runHere(dataDir: string, args: string[], env: Record<string, string>): Promise<Ended> {
  const printed = { stdout: '', stderr: '' }
  noteSettings(env)
  const code = await runCommandLine(args, {
    env: settingsFor(dataDir, env),
    say: (line) => {
      printed.stderr += `${line}\n`
    },
    write: (text) => {
      printed.stdout += text
    },
  })
  return { code, ...printed, json: readPrinted(args, printed.stdout) }
}

/** As `runProgram`, in a process of its own. */
export async function runAsProcess(
  dataDir: string,
  args: string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Ended> {
  const child = spawnProgram(dataDir, args, env)
  child.stdin?.on('error', () => undefined).end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'exit'),
  ])
  return { code, stdout, stderr, json: readPrinted(args, stdout) }
}

function readPrinted(args: readonly string[], stdout: string): Printed {
  const json = args.includes('--json') && stdout ? JSON.parse(stdout) : undefined
  notePrinted(json)
  return json
}

/** A `start` or another command that runs until it is stopped. */
export type Running = {
  child: ChildProcess
  /** What it printed with --json when it was ready. */
  ready: Printed
  /** Sends the signal and answers the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts the server program and waits until it is ready. An empty data directory gets a migrated
 * database first; `startOnEmpty` lets the program make it.
 */
export function startProgram(dataDir: string, command = 'start', env: Record<string, string> = {}): Promise<Running> {
  if (command === 'start' && !env.DATABASE_URL) copyClusterTemplate(dataDir)
  return startOnEmpty(dataDir, command, env)
}

export async function startOnEmpty(
  dataDir: string,
  command = 'start',
  env: Record<string, string> = {},
): Promise<Running> {
  const level = collectedFile('') === null ? 'warn' : 'debug'
  const child = spawnProgram(dataDir, [command, '--json'], { SHIPLOCK_LOG_LEVEL: level, ...env })
  child.stdin?.end()
  const exited = once(child, 'exit')
  const stderr = readAll(child.stderr)
  const first = await firstLine(child)
  if (first === null) throw new Error(`${command} ended before it was ready: ${await stderr}`)
  notePrinted(JSON.parse(first))
  noteDataDirectory(dataDir)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    const [code] = await exited
    return code
  }
  return { child, ready: JSON.parse(first), stop }
}

function spawnProgram(dataDir: string, args: string[], env: Record<string, string>): ChildProcess {
  noteSettings(env)
  const child = spawn(process.execPath, [MAIN, ...args], { env: settingsFor(dataDir, env), stdio: 'pipe' })
  endWithTest(child, 'SIGTERM')
  collectOutput(child.stderr)
  return child
}

function settingsFor(dataDir: string, env: Record<string, string>): Record<string, string> {
  const settings = {
    ...{ SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_PORT: '0', SHIPLOCK_LOG_LEVEL: 'warn' },
    SHIPLOCK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    ...env,
  }
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...settings }
}

async function firstLine({ stdout }: ChildProcess): Promise<string | null> {
  if (!stdout) return null
  const lines = createInterface({ input: stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [null])])
  return line
}

function readAll(stream: ChildProcess['stdout']): Promise<string> {
  return stream ? text(stream) : Promise.resolve('')
}
