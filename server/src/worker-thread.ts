import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openServices } from './open-services.ts'
import { work } from './work.ts'
import type { WorkerThreadData } from './work-in-thread.ts'

/** The main module of the worker thread. Any message from the parent means stop. */
const CONNECTIONS = 8

// On Linux, each thread has its own priority. Requests come before background jobs.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

if (!parentPort) throw new Error('This module must run as a worker thread; see work-in-thread.ts.')
const { config, database } = workerData as WorkerThreadData
const { services, close } = await openServices(config, database, {
  applicationName: 'shiplock worker',
  connections: CONNECTIONS,
})
const worker = await work(services, database)
parentPort.postMessage('working')
await Promise.race([once(parentPort, 'message'), worker.ended])
await worker.close()
await close()
parentPort.close()
