import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { startWorkerThread } from '../../src/start/work-in-thread.ts'

// A worker in a separate process, on a test's database and data directory, until it is stopped or
// killed.
const { settings, database } = JSON.parse(process.argv[2] as string)
const config = readConfig(settings)
const thread = startWorkerThread({ config, database }, { log: createLog(config.logLevel) })
process.channel?.unref()
void thread.ready.then(() => process.send?.('working'))
process.once('SIGTERM', () => void thread.close())
