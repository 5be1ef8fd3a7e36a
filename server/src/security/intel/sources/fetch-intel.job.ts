import type { ScheduledJob } from '../../../platform/queue/job.ts'
import type { Services } from '../../../services.ts'
import { fetchIntel } from './fetch-intel.ts'

/** Once a day, at a minute that others are unlikely to choose, where the settings name addresses. */
export const fetchIntelDaily: ScheduledJob<Services> = {
  name: 'security.fetch-intel',
  schedule: '43 4 * * *',
  async run(services): Promise<void> {
    const { intel } = services.config
    if (intel !== null) await fetchIntel(services, intel)
  },
}
