import { type Clock, MINUTE_MS } from '../clock.ts'
import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import type { ScheduledJob } from '../queue/job.ts'
import { forgetAbandonedObjects, lockAbandonedObjects, postponeAbandonedObjects } from './abandoned-objects.store.ts'
import type { ObjectStore } from './object-store.ts'

type Context = { sql: Sql; objects: ObjectStore; clock: Clock; log: Log }

/** A PUT that began before its address expired may end this much later, and would leave its object behind. */
const TRANSFER_MS_MAX = 60 * MINUTE_MS
const RETRY_AFTER_MS = 60 * MINUTE_MS
const OBJECTS_AT_ONCE_MAX = 50
/** The next minute goes on with the rest. */
const BATCHES_MAX = 40

/** Runs every minute: objects that no row refers to any more go away. */
export const removeAbandoned: ScheduledJob<Context> = {
  name: 'objects.remove-abandoned',
  schedule: '* * * * *',
  async run(context) {
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      if ((await removeBatch(context)) < OBJECTS_AT_ONCE_MAX) return
    }
  },
}

/**
 * The object goes before its row, so that a crash between the two only repeats the removal. Two workers take different
 * rows. What the store does not remove is tried again later, behind the others. Returns how many there were.
 */
async function removeBatch({ sql, objects, clock, log }: Context): Promise<number> {
  const now = clock.now().getTime()
  return sql.begin(async (tx) => {
    const keys = await lockAbandonedObjects(tx, new Date(now - TRANSFER_MS_MAX), OBJECTS_AT_ONCE_MAX)
    const removals = await Promise.allSettled(keys.map((key) => objects.remove(key)))
    const failed = keys.filter((_, at) => removals[at]?.status === 'rejected')
    await forgetAbandonedObjects(
      tx,
      keys.filter((key) => !failed.includes(key)),
    )
    if (failed.length > 0) {
      const err = removals.find((removal) => removal.status === 'rejected')?.reason
      log.warn({ err, objects: failed.length }, 'objects were not removed; tried again in an hour')
      await postponeAbandonedObjects(tx, failed, new Date(now - TRANSFER_MS_MAX + RETRY_AFTER_MS))
    }
    return keys.length
  })
}

/** Runs hourly: what broken-off transfers left behind goes away. */
export const sweepObjects: ScheduledJob<{ objects: ObjectStore; clock: Clock }> = {
  name: 'objects.sweep',
  schedule: '17 * * * *',
  run: ({ objects, clock }) => objects.sweep(clock.now()),
}
