import type { ScheduledJob } from '../platform/queue/job.ts'
import type { Services } from '../services.ts'
import { reconsiderAll } from './reconsider-results.ts'

/** Evidence grows old by itself, so every repository is judged once a day, whatever happens to it. */
export const evaluateDaily: ScheduledJob<Services> = {
  name: 'compliance.evaluate-daily',
  schedule: '30 3 * * *',
  run: (services) => reconsiderAll(services),
}
