import { applyShard } from '../../src/codehosts/deliveries/deliveries.job.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'
import { openServices } from '../../src/start/open-services.ts'
import { applyingHandlers } from './applied-runs.ts'
import { webhookHost } from './webhooks.ts'

// A worker that applies deliveries until it is killed. A run with the message "kill" kills it.
const { settings, database } = JSON.parse(process.argv[2] as string)
const config = readConfig(settings)
const log = createLog(config.logLevel)
const options = { applicationName: 'delivery worker', connections: 6, log, codeHosts: webhookHost() }
const { services } = await openServices(config, database, options)
const handlers = applyingHandlers(async (_, { commit }) => {
  if (commit.message === 'kill') process.kill(process.pid, 'SIGKILL')
})
await startWorker({
  address: database.address,
  context: { ...services, handlers },
  jobs: [applyShard],
  scheduled: [],
  log,
  concurrency: 2,
})
