import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { parseBranchName } from '../../repositories/branch-name.ts'
import { findById } from '../../repositories/repository-lookup.store.ts'
import { findPolicyCommit, upsertPush } from './policy-source.store.ts'
import { readRepositoryPoliciesJob } from './read-repository-policies.job.ts'

/**
 * After a push to the tracked branch: reads the repository's policy files again. Pushes that arrive
 * late are ignored, because the newest commit contains them.
 */
export const followPush: HostEventHandler<'push'> = async (_services, tx, { org_id, provider }, push) => {
  const { after, ref, pushed_at, repository } = push
  const known = await findById(tx, org_id, provider, repository.id)
  const tracked = known?.tracked_branch ?? repository.default_branch
  if (after === null || !ref.startsWith('refs/heads/') || parseBranchName(ref) !== parseBranchName(tracked)) return
  const source = { org_id, provider, repository_id: repository.id }
  if (await upsertPush(tx, source, { commit_sha: after, pushed_at }))
    await enqueue(tx, readRepositoryPoliciesJob, source)
}

/** An import queues this for every repository; it must not hold up what people wait for. */
const FIRST_READ = { ...readRepositoryPoliciesJob, priority: 10 }

/** Reads the policy files of a repository that was connected, without waiting for its next push. */
export const followRepository: HostEventHandler<'repository'> = async (_services, tx, { org_id, provider }, event) => {
  const source = { org_id, provider, repository_id: event.repository.id }
  if (event.change === 'changed' && (await findPolicyCommit(tx, source)) === null) await enqueue(tx, FIRST_READ, source)
}
