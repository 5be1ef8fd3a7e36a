import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { verifyLog } from './verify-log.ts'

/** Verifies the transparency log once a day, and logs an error for each contradiction. */
export const verifyLogDaily: ScheduledJob<Services> = {
  name: 'provenance.verify-log',
  schedule: '17 3 * * *',
  run: async (services, _payload, stopping) => {
    const breaks = await verifyLog(services, undefined, stopping)
    for (const found of breaks) services.log.error(found, 'The stored transparency log contradicts itself')
  },
}
