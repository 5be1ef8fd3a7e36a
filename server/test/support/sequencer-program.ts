import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { startSequencing } from '../../src/provenance/log/sequence-log.ts'
import { openServices } from '../../src/start/open-services.ts'

// Extends the transparency log of a test's database until it is killed.
const { settings, database } = JSON.parse(process.argv[2] as string)
const config = readConfig(settings)
const options = { applicationName: 'sequencer', connections: 2, log: createLog(config.logLevel) }
const { services } = await openServices(config, database, options)
startSequencing(services)
