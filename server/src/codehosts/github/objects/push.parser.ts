import { Type } from 'typebox'
import type { HostPush } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Maybe, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { Account, accountOf } from './repository.parser.ts'

/** A change of a ref. */
const Activity = Type.Object({
  activity_type: Text,
  ref: Text,
  before: Text,
  after: Text,
  timestamp: Timestamp,
  actor: Maybe(Account),
})

/** Null for a merged pull request, which the list of pull requests contains. */
export function parseActivity(value: unknown, repository: HostRepository): HostPush | null {
  const { activity_type: type, ref, before, after, timestamp, actor } = readAs(Activity, value)
  if (type === 'pr_merge') return null
  return {
    repository,
    ref,
    before: commitOrNull(before),
    after: commitOrNull(after),
    forced: type === 'force_push',
    pusher: accountOf(actor),
    by_merge_queue: type === 'merge_queue_merge',
    commits: [],
    pushed_at: new Date(timestamp),
  }
}

/** Zeros stand for no commit. */
export function commitOrNull(sha: string): string | null {
  return /^0+$/.test(sha) ? null : sha
}
