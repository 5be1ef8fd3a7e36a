import type { ChildProcess } from 'node:child_process'

const running = new Map<ChildProcess, NodeJS.Signals>()

/**
 * Ends a process at the latest when the test's own process ends, also by a signal or an uncaught
 * error. Tests end what they start themselves; this is for those that do not come to it.
 */
export function endWithTest(child: ChildProcess, signal: NodeJS.Signals): void {
  watch()
  running.set(child, signal)
  child.once('exit', () => running.delete(child))
}

let isWatching = false

function watch(): void {
  if (isWatching) return
  isWatching = true
  process.once('exit', () => {
    for (const [child, signal] of running) child.kill(signal)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}
