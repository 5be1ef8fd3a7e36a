import { followReadings } from './follow-readings.ts'
import { sendReport } from './send-report.ts'
import { describeFailure } from './upload-failure.ts'
import type { UploadItem } from './upload-item.ts'
import { beginWork, changeItem, isWorkedOn, queuedItems } from './upload-queue.ts'

/** Files that are hashed or sent at the same time. More would share the same connection. */
const PARALLEL_MAX = 3

let running = 0

/** Starts files that wait, as many as may run. Each one that ends starts the next. */
export function runUploads(): void {
  followReadings()
  while (running < PARALLEL_MAX) {
    const next = queuedItems().find(({ id, phase }) => phase === 'waiting' && !isWorkedOn(id))
    if (next === undefined) return
    void run(next)
  }
}

async function run(item: UploadItem): Promise<void> {
  running++
  const { signal, end } = beginWork(item.id)
  try {
    await sendReport(item, signal)
  } catch (error) {
    if (!signal.aborted) fail(item, error)
  } finally {
    end()
    running--
    runUploads()
  }
}

function fail(item: UploadItem, error: unknown): void {
  const failure = describeFailure(error)
  changeItem(item.id, {
    phase: 'failed',
    failure,
    notice: null,
    // A file that has changed is read from the start when it is tried again.
    ...(failure.rereads && { sha256: null }),
  })
}
