import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import { branchName, isTracked } from '../../repositories/branch-name.ts'
import { findById } from '../../repositories/repository-lookup.store.ts'
import { upsertCheck } from './commit-check.store.ts'
import { upsertPullRequest, upsertReview } from './pull-request.store.ts'
import { insertPush } from './push.store.ts'

export const applyPullRequest: HostEventHandler<'pull_request'> = (_, tx, source, pull) =>
  upsertPullRequest(tx, source, pull)

export const applyReview: HostEventHandler<'review'> = (_, tx, source, review) => upsertReview(tx, source, review)

export const applyCheck: HostEventHandler<'check'> = (_, tx, source, check) => upsertCheck(tx, source, check)

/** Keeps pushes to the tracked branch. Only they change what a change record describes. */
export const applyPush: HostEventHandler<'push'> = async (_, tx, source, push) => {
  const branch = branchName(push.ref)
  if (branch === null || push.after === null) return
  const repository = await findById(tx, source.org_id, source.provider, push.repository.id)
  if (!isTracked(branch, repository?.tracked_branch ?? push.repository.default_branch)) return
  await insertPush(tx, source, { ...push, branch, after: push.after })
}
