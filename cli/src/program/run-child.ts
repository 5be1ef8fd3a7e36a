import { spawn } from 'node:child_process'
import { exitCodeOf, type SignalWatch } from '@shiplock/command-line/signals'

type Child = { command: string; args: string[]; env: NodeJS.ProcessEnv; signals: SignalWatch }

/** `isInterrupted` tells that this process got a signal while the command ran, or before. */
export type Ended = { code: number; isInterrupted: boolean }

const CANNOT_RUN = 126
const NOT_FOUND = 127

/**
 * Runs a command with the input and output of this process, and passes signals on to it. Returns
 * the exit code as a shell has it: 128 + the number of the signal that ended the command, 127 if
 * the command does not exist.
 */
export async function runChild({ command, args, env, signals }: Child): Promise<Ended> {
  if (signals.first.aborted) return { code: exitCodeOf(signals.first.reason.signal), isInterrupted: true }
  const child = spawn(command, args, { stdio: 'inherit', env })
  signals.onSignal((signal) => {
    if (!reachesChild(signal)) child.kill(signal)
  })
  const code = await new Promise<number>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      process.stderr.write(`shiplock: ${command} cannot be run (${error.code ?? error.message})\n`)
      resolve(error.code === 'ENOENT' ? NOT_FOUND : CANNOT_RUN)
    })
    child.on('exit', (status, signal) => resolve(status ?? exitCodeOf(signal ?? 'SIGKILL')))
  })
  return { code, isInterrupted: signals.first.aborted }
}

/** A terminal sends Ctrl-C to the command, too. */
function reachesChild(signal: NodeJS.Signals): boolean {
  return signal === 'SIGINT' && process.stdin.isTTY === true
}

/** A server that does not answer delays the command no longer than this. */
const START_WITHIN_MS = 5_000

/** Waits for what is reported before the command starts, but neither long nor after a signal. */
export function waitForServer(reported: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const pause = new Promise<void>((resolve) => {
    setTimeout(resolve, START_WITHIN_MS).unref()
    signal.addEventListener('abort', () => resolve())
  })
  return Promise.race([reported, pause])
}
