import type { Tx } from '../../../platform/db/sql.ts'
import type { Services } from '../../../services.ts'
import { holdIntel } from '../../intel/intel-hold.store.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { type DueRepository, nextDueRepository, takeDueBuckets } from './due-bucket.store.ts'
import { regroupBuckets } from './regroup-buckets.ts'

/**
 * Groups anew what got other aliases, a part of one repository in each transaction: issues of which two turn out to be one are
 * joined, and others come apart again. Interrupted, it goes on with what is left.
 */
export async function regroupDue({ sql, clock }: Services): Promise<void> {
  for (let next = await nextDueRepository(sql); next !== null; next = await nextDueRepository(sql)) {
    const due = next
    await sql.begin((tx) => regroupRepository(tx, due, clock.now()))
  }
}

async function regroupRepository(tx: Tx, due: DueRepository, at: Date): Promise<void> {
  await lockRepository(tx, due.org_id, due.repository_no)
  // Before buckets are taken off the list: an import that puts some on it holds what this would wait for.
  await holdIntel(tx)
  const buckets = await takeDueBuckets(tx, due)
  await regroupBuckets(tx, { ...due, at }, buckets, { by: 'aliases', source: due.source })
}
