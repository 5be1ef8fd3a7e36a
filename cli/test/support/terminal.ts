import { spawn } from 'node:child_process'
import { json } from 'node:stream/consumers'
import { environment, HOME } from './program.ts'

const BIN = new URL('../../bin/shiplock.mjs', import.meta.url).pathname
const PTY = new URL('./terminal.py', import.meta.url).pathname

type OnTerminal = {
  env: Record<string, string>
  /** What is typed once the terminal shows a text. */
  typed?: { after: string; type: string }[]
  columns?: number
  rows?: number
}

type Shown = { code: number; screen: string }

/** Runs the program on a terminal, and returns everything that was written to it. */
export function shiplockOnTerminal(args: string[], terminal: OnTerminal): Promise<Shown> {
  return onTerminal([process.execPath, BIN, ...args], terminal)
}

/** Runs any program on a terminal. */
export async function onTerminal(
  args: string[],
  { env, typed = [], columns = 80, rows = 24 }: OnTerminal,
): Promise<Shown> {
  const child = spawn('python3', [PTY], { stdio: ['pipe', 'pipe', 'inherit'] })
  const own = environment({ TERM: 'xterm', ...env })
  child.stdin.end(JSON.stringify({ args, env: own, cwd: HOME, rows, columns, typed }))
  return (await json(child.stdout)) as Shown
}
