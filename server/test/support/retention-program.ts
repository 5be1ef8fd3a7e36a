import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../../src/config.ts'
import { loadSpread } from '../../src/platform/db/spread.ts'
import { createLog } from '../../src/platform/log.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { openServices } from '../../src/start/open-services.ts'

// Removes what has expired at a time, and ends.
const { settings, database, now } = JSON.parse(process.argv[2] as string)
const config = readConfig(settings)
const log = createLog(config.logLevel)
const clock = { now: () => new Date(now) }
const { services, close } = await openServices(config, database, {
  applicationName: 'retention',
  connections: 2,
  clock,
  log,
})
await loadSpread(services.sql)
while ((await removeExpired(services, { sliceMs: 1000 })) !== 'finished') await delay(10)
await close()
