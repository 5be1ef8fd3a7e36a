import type { HostPullRequest } from '../../codehosts/host-change.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ProviderRunKey } from '../runs/provider-run.ts'

/** Links a new run to the stored pull requests of its commit. */
export async function updatePullRequestsOfRun(tx: Tx, key: ProviderRunKey): Promise<void> {
  await Promise.all([linkPullRequest(tx, key), linkMergedPullRequest(tx, key)])
}

/** A commit can belong to several pull requests. The one with the lowest number counts. */
async function linkPullRequest(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<void> {
  await tx`
    update provider_runs run
    set pull_request_number = pull.number, pull_request_url = pull.url
    from pull_request_heads head
    join pull_requests pull using (org_id, provider, repository_id)
    where run.org_id = ${buildAverageId(tx, org_id)}
      and run.run_id = ${run_id}
      and run.trigger_kind = 'pull_request'
      and (head.org_id, head.provider, head.repository_id) = (run.org_id, run.provider, run.repository_id)
      and head.commit_sha = run.commit_sha
      and pull.number = head.pull_request
      and pull.number < coalesce(run.pull_request_number, pull.number + 1)
      and not exists (
        select from pull_request_heads lower
        where (lower.org_id, lower.provider, lower.repository_id) = (run.org_id, run.provider, run.repository_id)
          and lower.commit_sha = run.commit_sha
          and lower.pull_request < pull.number
      )`
}

async function linkMergedPullRequest(tx: Tx, { org_id, run_id }: ProviderRunKey): Promise<void> {
  await tx`
    update provider_runs run
    set merged_pull_request_number = pull.number, merged_pull_request_url = pull.url
    from pull_requests pull
    where run.org_id = ${buildAverageId(tx, org_id)}
      and run.run_id = ${run_id}
      and run.trigger_kind <> 'pull_request'
      and (pull.org_id, pull.provider, pull.repository_id) = (run.org_id, run.provider, run.repository_id)
      and pull.state = 'merged'
      and pull.merge_commit_sha = run.commit_sha
      and pull.number <= coalesce(run.merged_pull_request_number, pull.number)
      and not exists (
        select from pull_requests lower
        where (lower.org_id, lower.provider, lower.repository_id) = (run.org_id, run.provider, run.repository_id)
          and lower.state = 'merged'
          and lower.merge_commit_sha = run.commit_sha
          and lower.number < pull.number
      )`
}

/** Links a pull request to the stored runs of its newest commit and of its merge commit. */
export async function updateRunsOfPullRequest(tx: Tx, { org_id, provider }: HostSource, pull: HostPullRequest) {
  const { number, url, head, merge_commit_sha, state } = pull
  await tx`
    update provider_runs
    set pull_request_number = ${number}, pull_request_url = ${url}
    where org_id = ${buildAverageId(tx, org_id)}
      and provider = ${provider}
      and repository_id = ${pull.repository.id}
      and commit_sha = ${head.sha}
      and trigger_kind = 'pull_request'
      and (pull_request_number is null or pull_request_number > ${number})`
  if (state !== 'merged' || merge_commit_sha === null) return
  await tx`
    update provider_runs
    set merged_pull_request_number = ${number}, merged_pull_request_url = ${url}
    where org_id = ${buildAverageId(tx, org_id)}
      and provider = ${provider}
      and repository_id = ${pull.repository.id}
      and commit_sha = ${merge_commit_sha}
      and trigger_kind <> 'pull_request'
      and (merged_pull_request_number is null or merged_pull_request_number > ${number})`
}
