import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { openServices } from '../../src/start/open-services.ts'
import { growChain } from './chains.ts'

// Appends links to a chain, and ends.
const { settings, database, chain, length, first } = JSON.parse(process.argv[2] as string)
const config = readConfig(settings)
const log = createLog(config.logLevel)
const { services, close } = await openServices(config, database, { applicationName: 'append', connections: 2, log })
await growChain(services, chain, length, first)
await close()
