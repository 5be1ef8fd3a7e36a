import { readConfig } from '../../src/config.ts'
import { openServices } from '../../src/open-services.ts'
import { work } from '../../src/work.ts'

// A worker in a process of its own, on a test's database and data directory, until it is killed.
const { settings, database } = JSON.parse(process.argv[2] as string)
const { services } = await openServices(readConfig(settings), database, {
  applicationName: 'worker to kill',
  connections: 2,
})
await work(services, database)
