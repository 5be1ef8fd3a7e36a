import type { Push } from '../../hosts/types.ts'
import { simpleUser } from './accounts.ts'
import { NO_COMMIT } from './commit.ts'
import type { Urls } from './urls.ts'

export const QUEUE_BOT = 'github-merge-queue[bot]'

/** What a push did, in the words of a repository's activities. */
export function activityType({ before, after, merge, pusher, forced }: Push): string {
  if (after === null) return 'branch_deletion'
  if (before === null) return 'branch_creation'
  if (merge !== null) return pusher.login === QUEUE_BOT ? 'merge_queue_merge' : 'pr_merge'
  return forced ? 'force_push' : 'push'
}

export function activityObject(urls: Urls, push: Push) {
  const { id, ref, before, after, pusher, at: timestamp } = push
  const shas = { before: before ?? NO_COMMIT, after: after ?? NO_COMMIT }
  const activity_type = activityType(push)
  return { id, node_id: `PSH_${id}`, ref, ...shas, activity_type, timestamp, actor: simpleUser(urls, pusher) }
}
