import { type Static, Type } from 'typebox'
import { Maybe, readAs, Text, Timestamp } from '../../../kit/payload.ts'
import type { ObjectChange } from '../../../object-change.ts'
import { bareUuid } from '../client/uuid.ts'
import { Account, accountOf } from '../objects/repository.parser.ts'

const Ref = Maybe(
  Type.Object({ type: Maybe(Text), name: Text, target: Type.Object({ hash: Text, date: Maybe(Timestamp) }) }),
)
const RefChange = Type.Object({ old: Ref, new: Ref, forced: Maybe(Type.Boolean()) })

const PushEvent = Type.Object({
  actor: Maybe(Account),
  repository: Type.Object({ uuid: Text }),
  push: Type.Object({ changes: Type.Array(RefChange) }),
})

/** One push for each ref that changed. */
export function pushesOf(payload: unknown): ObjectChange[] {
  const { actor, repository, push } = readAs(PushEvent, payload)
  const repository_id = bareUuid(repository.uuid)
  return push.changes.flatMap((change): ObjectChange[] => {
    const ref = change.new ?? change.old
    if (!ref) return []
    const pushed = {
      ref: `refs/${ref.type?.includes('tag') ? 'tags' : 'heads'}/${ref.name}`,
      before: change.old?.target.hash ?? null,
      after: change.new?.target.hash ?? null,
      forced: change.forced ?? false,
      pusher: accountOf(actor),
      by_merge_queue: false,
      pushed_at: timeOf(change),
    }
    return [{ type: 'push', repository_id, push: pushed }]
  })
}

/**
 * Bitbucket does not say when a push happened. That of its newest commit stands for it, which is
 * the same in whatever order webhooks arrive.
 */
function timeOf({ old, new: current }: Static<typeof RefChange>): Date {
  const times = [old, current].map((ref) => new Date(ref?.target.date ?? 0).getTime())
  return new Date(Math.max(...times))
}
