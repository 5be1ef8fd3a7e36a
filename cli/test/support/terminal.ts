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

/** Runs the program on a terminal, and returns everything that was written to it. */
export async function shiplockOnTerminal(
  args: string[],
  { env, typed = [], columns = 80, rows = 24 }: OnTerminal,
): Promise<{ code: number; screen: string }> {
  const child = spawn('python3', [PTY], { stdio: ['pipe', 'pipe', 'inherit'] })
  const call = {
    args: [process.execPath, BIN, ...args],
    env: environment({ TERM: 'xterm', ...env }),
    cwd: HOME,
    rows,
    columns,
    typed,
  }
  child.stdin.end(JSON.stringify(call))
  return (await json(child.stdout)) as { code: number; screen: string }
}
