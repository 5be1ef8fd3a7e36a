import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { findPrimary } from '../platform/db/primary-server.ts'
import { loadSpread } from '../platform/db/spread.ts'
import { metrics } from '../platform/metrics.ts'
import { openServices, startTelemetry } from './open-services.ts'
import { startWork } from './work.ts'
import type { WorkerThreadData } from './work-in-thread.ts'

/**
 * The main module of the worker thread. The message `metrics` of the parent asks for the metrics of
 * this thread; any other one means stop.
 */
const CONNECTIONS = 16

// On Linux, each thread has its own priority. Requests come before background jobs.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

if (!parentPort) throw new Error('This module must run as a worker thread; see work-in-thread.ts.')
const { config, database } = workerData as WorkerThreadData
await findPrimary(database.url)
const { services, close } = await openServices(config, database, {
  applicationName: 'shiplock worker',
  connections: CONNECTIONS,
})
await loadSpread(services.sql)
const stopTelemetry = await startTelemetry(services, 'worker')
const worker = await startWork(services, database)
const stopped = Promise.withResolvers<void>()
parentPort.postMessage('working')
parentPort.on('message', async (message) => {
  if (message === 'metrics') parentPort?.postMessage({ metrics: await metrics.getMetricsAsJSON() })
  else stopped.resolve()
})
await Promise.race([stopped.promise, worker.ended])
await worker.close()
await stopTelemetry()
await close()
parentPort.close()
