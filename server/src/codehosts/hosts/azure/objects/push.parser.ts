import { type Static, Type } from 'typebox'
import type { ToldPush } from '../../../host-change.ts'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'
import { commitOrNull, Time, timeOrNull } from './fields.ts'
import { accountOf, Identity } from './identity.parser.ts'

/** A push, in lists and in the event `git.push`. It can change several refs. */
export const Push = Type.Object({
  date: Time,
  pushedBy: Maybe(Identity),
  refUpdates: Maybe(Type.Array(Type.Object({ name: Maybe(Text), oldObjectId: Maybe(Text), newObjectId: Maybe(Text) }))),
})

export type RefPush = Omit<ToldPush, 'repository' | 'commits'>

export function parsePush(value: unknown): RefPush[] {
  return refPushesOf(readAs(Push, value))
}

/** What a push did to each branch and tag. Whether it was forced is not part of it. */
export function refPushesOf({ date, pushedBy, refUpdates }: Static<typeof Push>): RefPush[] {
  return (refUpdates ?? []).flatMap(({ name, oldObjectId, newObjectId }) =>
    name && /^refs\/(?:heads|tags)\//.test(name)
      ? {
          ref: name,
          before: commitOrNull(oldObjectId),
          after: commitOrNull(newObjectId),
          forced: null,
          pusher: accountOf(pushedBy),
          by_merge_queue: false,
          pushed_at: timeOrNull(date) ?? new Date(0),
        }
      : [],
  )
}
