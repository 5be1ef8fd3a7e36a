import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'

// A thread of jobs that dies the first time, and the second time works until it is told to stop.
const starts = join(workerData.config.dataDir, 'starts')
appendFileSync(starts, 'x')
if (readFileSync(starts, 'utf8') === 'x') throw new Error('died')
parentPort?.postMessage('working')
if (parentPort) await once(parentPort, 'message')
appendFileSync(starts, ' stopped')
parentPort?.close()
