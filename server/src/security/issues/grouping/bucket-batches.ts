import { groupBy } from './links.ts'
import type { Member } from './member.ts'

const MEMBERS_AT_ONCE = 20_000

/**
 * The findings in parts that can be grouped one after the other: a bucket is never divided, and all buckets that hold something
 * stored are in the first part, for what is stored may have left one of them for another.
 */
export function bucketBatches(members: readonly Member[]): Member[][] {
  const buckets = groupBy(members, ({ bucket }) => bucket)
  const known: Member[] = []
  const batches = [known]
  for (const inBucket of buckets.values()) {
    const batch = inBucket.some(({ id }) => id !== null) ? known : openBatch(batches)
    for (const member of inBucket) batch.push(member)
  }
  return batches.filter((batch) => batch.length > 0)
}

/** The last part, or a new one where that is full. The first is never the last. */
function openBatch(batches: Member[][]): Member[] {
  const last = batches.at(-1) as Member[]
  if (batches.length > 1 && last.length < MEMBERS_AT_ONCE) return last
  const next: Member[] = []
  batches.push(next)
  return next
}
