import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestApi } from './api.ts'

const PROGRAM = new URL('./delivery-worker-program.ts', import.meta.url).pathname

/** A worker process that applies deliveries with the recording handlers. `await using` kills it. */
type DeliveryWorker = AsyncDisposable & {
  /** The signal that ended the process. */
  ended: Promise<NodeJS.Signals | null>
}

export function startDeliveryWorker(api: TestApi): DeliveryWorker {
  const settings = { SHIPLOCK_DATA_DIR: api.services.config.dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' }
  const argument = JSON.stringify({ settings, database: api.database })
  const child = spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null)
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { ended, [Symbol.asyncDispose]: end }
}
