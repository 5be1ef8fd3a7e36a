import type { HostAzureRun, HostPullRequestName, HostRun, TriggerKind } from '../../codehosts/host-run.ts'
import { parseBranchName } from '../../repositories/branch-name.ts'
import type { AttemptVersion } from './attempt-facts.ts'

/** The facts of a run that all attempts share, from one version of the host's object. */
export type ProviderRun = {
  host_version: string
  external_run_id: string
  provider: string
  /** `host/owner/name`, as the event names it. */
  repository: string
  repository_id: string
  repository_owner_id: string
  workflow_id: string
  workflow_name: string
  workflow_path: string | null
  run_number: number | null
  ref: string | null
  branch: string | null
  head_repository_id: string
  commit_sha: string
  event: string
  trigger_kind: TriggerKind
  release_name: string | null
  actor_id: string | null
  actor_login: string | null
  actor_avatar_url: string | null
  actor_url: string | null
  /** What only Azure DevOps has. */
  azure: HostAzureRun | null
  created_at: Date
}

export function toProviderRun(run: HostRun, { host_version }: AttemptVersion): ProviderRun {
  const { repository, workflow, actor } = run
  return {
    host_version,
    external_run_id: run.id,
    provider: repository.provider,
    repository: `${repository.host}/${repository.full_name}`,
    repository_id: repository.id,
    repository_owner_id: repository.owner_id,
    workflow_id: workflow.id,
    workflow_name: workflow.name,
    workflow_path: workflow.path,
    run_number: run.number,
    ref: run.ref,
    branch: parseBranchName(run.ref),
    head_repository_id: run.head_repository_id,
    commit_sha: run.commit.sha,
    event: run.event,
    trigger_kind: run.kind,
    release_name: run.release_name,
    actor_id: actor?.id ?? null,
    actor_login: actor?.login ?? null,
    actor_avatar_url: actor?.avatar_url ?? null,
    actor_url: actor?.url ?? null,
    azure: run.azure ?? null,
    created_at: run.created_at,
  }
}

/**
 * Facts of a run that stay once a version has named them. Hosts leave them out of later versions.
 */
export type LastingFacts = { commit_message: string | null; pull_request: HostPullRequestName | null }

/** A run belongs to one pull request: the one with the lowest number that any version names. */
export function toLastingFacts({ commit, pull_requests }: HostRun): LastingFacts {
  const [pull_request = null] = [...pull_requests].sort((a, b) => a.number - b.number)
  return { commit_message: commit.message, pull_request }
}

export type ProviderRunKey = { org_id: string; run_id: string }
