import type { Account, Comment, CommentTarget, CommitStatus, Repository } from '../types.ts'
import type { World } from '../world.ts'

/** Sets a status of a commit; one with the same context is replaced in place. */
export function setCommitStatus(
  world: World,
  repository: Repository,
  fields: Pick<CommitStatus, 'sha' | 'state' | 'context' | 'description' | 'target_url'> & { by: Account },
): CommitStatus {
  const { by, ...shown } = fields
  const at = world.now()
  const known = repository.statuses.find(({ sha, context }) => sha === shown.sha && context === shown.context)
  const status = known ?? { ...world.newIds(), ...shown, creator: by, created_at: at, updated_at: at }
  Object.assign(status, shown, { creator: by, updated_at: at })
  if (known === undefined) repository.statuses.push(status)
  world.emit({ type: 'commit_status', repository, by, status })
  return status
}

export function addComment(
  world: World,
  repository: Repository,
  { target, by, text }: { target: CommentTarget; by: Account; text: string },
): Comment {
  const comment = { ...world.newIds(), target, by, text, at: world.now() }
  repository.comments.push(comment)
  world.emit({ type: 'comment', repository, by, comment })
  return comment
}
