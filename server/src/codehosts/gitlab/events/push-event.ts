import { type Static, Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostAccount } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import type { ObjectChange } from '../../object-change.ts'
import { accountOf } from '../objects/account.parser.ts'
import { commitOrNull } from '../objects/push.parser.ts'
import { projectChange } from './object-events.ts'

const Push = Type.Object({
  project_id: Id,
  ref: Text,
  before: Maybe(Text),
  after: Maybe(Text),
  user_id: Maybe(Id),
  user_username: Maybe(Text),
  user_name: Maybe(Text),
  user_avatar: Maybe(Text),
})

/** GitLab states neither when the commits were pushed nor whether the push was forced. */
export function push(clock: Clock): (payload: unknown) => ObjectChange[] {
  return (payload) => {
    const { project_id, ref, before, after, ...user } = readAs(Push, payload)
    const pushed = {
      ref,
      before: commitOrNull(before),
      after: commitOrNull(after),
      forced: null,
      pusher: pusherOf(user),
      by_merge_queue: false,
      pushed_at: clock.now(),
    }
    const repository_id = String(project_id)
    return [projectChange(repository_id), { repository_id, type: 'push', push: pushed }]
  }
}

type User = Pick<Static<typeof Push>, 'user_id' | 'user_username' | 'user_name' | 'user_avatar'>

function pusherOf({ user_id: id, user_username: username, user_name, user_avatar }: User): HostAccount | null {
  if (!id || !username) return null
  return accountOf({ id, username, name: user_name ?? null, avatar_url: user_avatar ?? null })
}
