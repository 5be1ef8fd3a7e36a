import type { Clock } from '../clock.ts'
import type { ScheduledJob } from '../queue/job.ts'
import type { ObjectStore } from './object-store.ts'

/** Runs hourly: what broken-off transfers left behind goes away. */
export const sweepObjects: ScheduledJob<{ objects: ObjectStore; clock: Clock }> = {
  name: 'objects.sweep',
  schedule: '17 * * * *',
  run: ({ objects, clock }) => objects.sweep(clock.now()),
}
