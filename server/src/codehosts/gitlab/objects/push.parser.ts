import { Type } from 'typebox'
import type { ToldPush } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './account.parser.ts'

const Event = Type.Object({
  created_at: Timestamp,
  author: Maybe(Account),
  push_data: Maybe(
    Type.Object({
      ref: Maybe(Text),
      ref_type: Maybe(Text),
      commit_from: Maybe(Text),
      commit_to: Maybe(Text),
    }),
  ),
})

/** A push to a branch. Null for one to a tag, and for one to several branches at once. */
export function parsePushEvent(value: unknown, repository: HostRepository): ToldPush | null {
  const { created_at, author, push_data: push } = readAs(Event, value)
  const branch = push?.ref_type === 'branch' ? textOrNull(push.ref) : null
  if (branch === null) return null
  return {
    repository,
    ref: `refs/heads/${branch}`,
    before: textOrNull(push?.commit_from),
    after: textOrNull(push?.commit_to),
    forced: null,
    pusher: accountOf(author),
    by_merge_queue: false,
    commits: [],
    pushed_at: new Date(created_at),
  }
}

/** Zeros stand for no commit. */
export function commitOrNull(sha: string | null | undefined): string | null {
  return !sha || /^0+$/.test(sha) ? null : sha
}
