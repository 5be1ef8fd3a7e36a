import type { Db } from '../../../platform/db/sql.ts'
import { computeBucket } from '../grouping/bucket.ts'
import type { Member } from '../grouping/grouping-facts.ts'
import type { KnownRules } from '../grouping/known-rules.ts'
import { listJoinedBuckets } from './edit.store.ts'
import { listMembers, type MergeScope } from './grouping.store.ts'

/** Stored findings, and all buckets whose findings they are. */
type EditedMembers = { members: Member[]; buckets: string[] }

/**
 * Reads all stored findings of these buckets, and of every bucket that must be grouped with them
 * because a merged issue has findings in both.
 */
export async function listEditedMembers(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo }: Pick<MergeScope, 'org_id' | 'repository_no'>,
  buckets: readonly string[],
  rules: KnownRules,
): Promise<EditedMembers> {
  const known = new Set<string>()
  const members: Member[] = []
  for (let next = [...buckets]; next.length > 0; ) {
    const joined = await listJoinedBuckets(db, { org_id: orgId, repository_no: repositoryNo }, next)
    const added = joined.filter((bucket) => !known.has(bucket))
    for (const bucket of added) known.add(bucket)
    const read = (await listMembers(db, orgId, repositoryNo, added)).map((member) => assignCurrentBucket(member, rules))
    for (const member of read) members.push(member)
    next = [...new Set(read.map(({ bucket }) => bucket))].filter((bucket) => !known.has(bucket))
  }
  return { members, buckets: [...known] }
}

/** By the current rules, a finding may belong to another bucket than its issue. */
export function assignCurrentBucket(member: Member, rules: KnownRules): Member {
  return { ...member, bucket: computeBucket(member, rules) }
}
