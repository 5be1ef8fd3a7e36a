import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { formatArtifactKey } from './artifact-object.ts'
import { deleteUnfinished, listArtifactIds } from './artifact-removal.store.ts'

/**
 * Runs hourly: deletes artifacts that were not completed within a day after their slot closed, and
 * their objects.
 */
export const forgetUnfinishedArtifacts = defineScheduledJob<Services>('ci.forget-unfinished-artifacts', {
  schedule: '23 * * * *',
  async run({ sql, clock }): Promise<void> {
    const putUntilMax = new Date(clock.now().getTime() - DAY_MS)
    let deleted: number
    do {
      deleted = await sql.begin((tx) => deleteUnfinished(tx, putUntilMax))
    } while (deleted > 0)
  },
})

const FILES_AT_ONCE = 500

/** The keys of the files of all artifacts of an organization. */
export async function* listArtifactKeys(db: Db, orgId: string): AsyncGenerator<string> {
  for (let ids = await listArtifactIds(db, orgId, { after: '', limit: FILES_AT_ONCE }); ids.length > 0; ) {
    for (const id of ids) yield formatArtifactKey(orgId, id)
    ids = await listArtifactIds(db, orgId, { after: ids.at(-1) as string, limit: FILES_AT_ONCE })
  }
}

/** Removes the files of all artifacts of an organization, before their rows are deleted. */
export async function removeArtifactFiles(
  { sql, objects }: Pick<Services, 'sql' | 'objects'>,
  orgId: string,
): Promise<number> {
  let removed = 0
  for await (const key of listArtifactKeys(sql, orgId)) {
    await objects.remove(key)
    removed += 1
  }
  return removed
}
