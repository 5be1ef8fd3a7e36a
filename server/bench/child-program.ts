import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server in a separate process, as users run it. */
type ChildProgram<Ready> = {
  /** The JSON line that it printed when it was ready. */
  ready: Ready
  pid: number
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>
}

export const SHIPLOCK = ['../src/main.ts', 'start', '--json']
export const BARE = ['./bare-server.ts']

/** Starts a program of this repository; it is ready when it has printed one line of JSON. */
export async function startProgram<Ready>(
  [file = '', ...args]: string[],
  env: Record<string, string>,
): Promise<ChildProgram<Ready>> {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  try {
    return { ready: JSON.parse(await firstLine(child)), pid: child.pid as number, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Fails with the standard error of the program if it ends without printing a line. */
async function firstLine({ stdout, stderr }: ChildProcess): Promise<string> {
  if (!stdout || !stderr) throw new Error('the program has no output')
  let said = ''
  stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-2000)
  })
  for await (const line of createInterface({ input: stdout })) {
    stdout.resume()
    return line
  }
  throw new Error(`the program ended before it was ready: ${said}`)
}
