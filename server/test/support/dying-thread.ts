import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'

// A worker thread that dies the first time. The second time, it works until it is stopped.
const starts = join(workerData.config.dataDir, 'starts')
appendFileSync(starts, 'x')
if (readFileSync(starts, 'utf8') === 'x') throw new Error('died')
parentPort?.postMessage('working')
if (parentPort) await once(parentPort, 'message')
appendFileSync(starts, ' stopped')
parentPort?.close()
