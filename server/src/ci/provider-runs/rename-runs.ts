import type { Services } from '../../services.ts'
import type { RepositoryKey } from './provider-run-jobs.ts'
import { renameRuns } from './renamed-run.store.ts'

/** Gives the verified runs of a renamed repository its present name, in batches. Safe to repeat. */
export async function renameVerifiedRuns({ sql }: Services, repository: RepositoryKey): Promise<void> {
  let last: string | null = ''
  while (last !== null) last = await renameRuns(sql, repository, last)
}
