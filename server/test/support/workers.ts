import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestApi } from './api.ts'
import { endWithTest } from './end-with-test.ts'
import { skipPauses } from './queue.ts'

const PROGRAM = new URL('./worker-program.ts', import.meta.url).pathname
const WAITS_MS_MAX = 60_000

/**
 * A worker in a separate process, on the data of the test's API. `await using` kills what still
 * runs.
 */
export type WorkerProcess = AsyncDisposable & {
  /** Resolves when the worker takes jobs. */
  ready: Promise<unknown>
  /** Sends the signal and waits for the end. Returns the exit code, which is null after a kill. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export function startWorkerProcess(api: TestApi): WorkerProcess {
  const settings = { SHIPLOCK_DATA_DIR: api.services.config.dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' }
  const argument = JSON.stringify({ settings, database: api.database })
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, argument], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  endWithTest(child, 'SIGKILL')
  const exited = once(child, 'exit')
  const ready = Promise.race([once(child, 'message'), exited])
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const [code] = await exited
    return code
  }
  return { ready, end, [Symbol.asyncDispose]: () => end('SIGKILL') }
}

/**
 * Keeps workers from writing what they have read: they wait in the middle of a report for a lock
 * that the test holds. A process that is killed meanwhile leaves its session waiting.
 */
type ReportLock = AsyncDisposable & { untilWaiting(sessions: number): Promise<void>; release(): Promise<void> }

export async function holdReports(api: TestApi): Promise<ReportLock> {
  const holder = await api.services.sql.reserve()
  await holder`begin`
  await holder`lock table finding_streams in share row exclusive mode`
  let held = true
  const release = async () => {
    if (!held) return
    held = false
    await holder`rollback`
    holder.release()
  }
  return {
    untilWaiting: async (sessions) => {
      const until = performance.now() + WAITS_MS_MAX
      while (performance.now() < until) {
        await skipPauses(api.services.sql, 'security.read-upload')
        await holder`select` // An idle transaction would be ended after a minute.
        const [row] = await api.services.sql<[{ waiting: number }]>`
          select count(*) as waiting
          from pg_stat_activity
          where datname = current_database()
            and application_name = 'shiplock worker'
            and wait_event_type = 'Lock'`
        if (row.waiting === sessions) return
      }
      throw new Error(`${sessions} sessions of workers do not wait.`)
    },
    release,
    [Symbol.asyncDispose]: release,
  }
}
