import { type Clock, MINUTE_MS } from '../clock.ts'
import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import { defineScheduledJob } from '../queue/job.ts'
import { deleteAbandonedObjects, lockAbandonedObjects, updateAbandonedObjects } from './abandoned-objects.store.ts'
import type { ObjectStore } from './object-store.ts'

type Context = { sql: Sql; objects: ObjectStore; clock: Clock; log: Log }

/** A PUT that started before its address expired may end this much later. */
const TRANSFER_MS_MAX = 60 * MINUTE_MS
const RETRY_AFTER_MS = 60 * MINUTE_MS
const OBJECTS_AT_ONCE_MAX = 50
/** The rest is removed in the next minute. */
const BATCHES_MAX = 40

/** Removes objects that no row refers to any more. Runs every minute. */
export const removeAbandoned = defineScheduledJob<Context>('objects.remove-abandoned', {
  schedule: '* * * * *',
  async run(context) {
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      if ((await removeBatch(context)) < OBJECTS_AT_ONCE_MAX) return
    }
  },
})

/** Removes all that are due now, and returns how many entries it took. */
export async function removeAllAbandoned(context: Context): Promise<number> {
  let removed = 0
  for (let batch = OBJECTS_AT_ONCE_MAX; batch === OBJECTS_AT_ONCE_MAX; removed += batch) {
    batch = await removeBatch(context)
  }
  return removed
}

/**
 * Removes an object before its entry, so that a crash between the two only repeats the removal.
 * Concurrent workers take different entries. An object that cannot be removed is retried later.
 * Returns the number of entries.
 */
async function removeBatch({ sql, objects, clock, log }: Context): Promise<number> {
  const now = clock.now().getTime()
  return sql.begin(async (tx) => {
    const keys = await lockAbandonedObjects(tx, new Date(now - TRANSFER_MS_MAX), OBJECTS_AT_ONCE_MAX)
    const removals = await Promise.allSettled(keys.map((key) => objects.remove(key)))
    const failed = keys.filter((_, at) => removals[at]?.status === 'rejected')
    await deleteAbandonedObjects(
      tx,
      keys.filter((key) => !failed.includes(key)),
    )
    if (failed.length > 0) {
      const err = removals.find((removal) => removal.status === 'rejected')?.reason
      log.warn({ err, objects: failed.length }, 'Could not remove objects; trying again in an hour')
      await updateAbandonedObjects(tx, failed, new Date(now - TRANSFER_MS_MAX + RETRY_AFTER_MS))
    }
    return keys.length
  })
}

/** Removes the files of aborted transfers. Runs every hour. */
export const sweepObjects = defineScheduledJob<{ objects: ObjectStore; clock: Clock }>('objects.sweep', {
  class: 'bulk',
  schedule: '17 * * * *',
  run: ({ objects, clock }) => objects.sweep(clock.now()),
})
