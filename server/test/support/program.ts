import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { copyClusterTemplate } from './cluster-template.ts'
import { endWithTest } from './end-with-test.ts'
import { collectedFile, collectOutput } from './secrets/collected-logs.ts'
import { noteDataDirectory, notePrinted, noteSettings } from './secrets/note-secrets.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

// biome-ignore lint/suspicious/noExplicitAny: tests look into what a command printed as they like
type Printed = any

type Ended = { code: number | null; stdout: string; stderr: string; json: Printed }

/** Runs the server program to its end. Settings of the caller's own environment do not reach it. */
export async function runProgram(
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
  const json = args.includes('--json') && stdout ? JSON.parse(stdout) : undefined
  notePrinted(json)
  return { code, stdout, stderr, json }
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
  const settings = { SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_PORT: '0', SHIPLOCK_LOG_LEVEL: 'warn', ...env }
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  const own = { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }
  noteSettings(env)
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...own, ...settings }, stdio: 'pipe' })
  endWithTest(child, 'SIGTERM')
  collectOutput(child.stderr)
  return child
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
