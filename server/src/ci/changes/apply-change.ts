import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findById } from '../../repositories/repository.store.ts'
import { isTracked, parseBranchName } from '../../repositories/repository-identity.ts'
import { insertPush, upsertCheck, upsertPullRequest, upsertReview } from './host-change.store.ts'

export const applyPullRequest: HostEventHandler<'pull_request'> = (_, tx, source, pull) =>
  upsertPullRequest(tx, source, pull)

export const applyReview: HostEventHandler<'review'> = (_, tx, source, review) => upsertReview(tx, source, review)

export const applyCheck: HostEventHandler<'check'> = (_, tx, source, check) => upsertCheck(tx, source, check)

/** Keeps pushes to the tracked branch. Only they change what a change record describes. */
export const applyPush: HostEventHandler<'push'> = async (_, tx, source, push) => {
  const branch = parseBranchName(push.ref)
  if (branch === null || push.after === null) return
  if (await isTrackedBranch(tx, source, push.repository, branch)) {
    await insertPush(tx, source, { ...push, branch, after: push.after })
  }
}

/**
 * Whether an event is about the tracked branch of its repository. The default branch that a
 * complete event names counts too: an event that arrives after the default branch has changed is
 * older.
 */
export async function isTrackedBranch(
  db: Db,
  source: HostSource,
  repository: HostRepository,
  branch: string,
): Promise<boolean> {
  if (repository.updated_at !== null && branch === repository.default_branch) return true
  const known = await findById(db, source.org_id, source.provider, repository.id)
  return isTracked(branch, known?.tracked_branch ?? repository.default_branch)
}
