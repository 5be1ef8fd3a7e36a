import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const PROGRAM = new URL('migrator-program.ts', import.meta.url).pathname

/**
 * Starts a process that migrates, and kills it after its first batches, `times` times. Returns how
 * often it was killed before it had ended.
 */
export async function interruptMigrations(address: string, directory: string, times: number): Promise<number> {
  let kills = 0
  for (let nth = 0; nth < times; nth += 1) {
    const child = spawn(process.execPath, [PROGRAM, address, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    if (await killAfter(child, nth + 1)) kills += 1
  }
  return kills
}

async function killAfter(child: ChildProcess, batches: number): Promise<boolean> {
  const exited = once(child, 'exit')
  let lines = 0
  child.stdout?.on('data', (chunk) => {
    lines += String(chunk).split('\n').length - 1
    if (lines >= batches) child.kill('SIGKILL')
  })
  const [, signal] = await exited
  return signal === 'SIGKILL'
}
