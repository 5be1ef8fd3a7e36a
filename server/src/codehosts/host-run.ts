import { getCodeHost, PROVIDERS, type Provider } from './catalogue.ts'
import type { HostAccount, HostRepository } from './host-repository.ts'

/** The status of a run, attempt, job or check, in the words of the specification. */
export type HostRunStatus = 'queued' | 'in_progress' | 'success' | 'failure' | 'cancelled' | 'timed_out' | 'skipped'

/** Why a run was started, in the same words for every code host. */
export type TriggerKind = 'push' | 'pull_request' | 'schedule' | 'manual' | 'release' | 'workflow' | 'other'

export type HostPullRequestName = { number: number; url: string | null }

/** A run of a pipeline on its code host, as it is in one attempt. */
export type HostRun = {
  repository: HostRepository
  /** The host's id of the run; all attempts share it. */
  id: string
  /** The number of the run within its workflow. */
  number: number | null
  attempt: number
  workflow: { id: string; name: string; path: string | null }
  status: HostRunStatus
  /** `refs/heads/…` or `refs/tags/…`; null if the host names neither. */
  ref: string | null
  /** The repository of the ref: the repository itself, or a fork. No id of one if not known. */
  head_repository_id: string
  commit: { sha: string; message: string | null }
  /** The event in the host's own words, and its kind. */
  event: string
  kind: TriggerKind
  release_name: string | null
  /** Who caused the run. */
  actor: HostAccount | null
  /** Who started this attempt. */
  triggering_actor: HostAccount | null
  pull_requests: HostPullRequestName[]
  html_url: string | null
  created_at: Date
  /** When this attempt started. */
  started_at: Date
  /** Null while the attempt is open. */
  completed_at: Date | null
  updated_at: Date
  /** What only Azure DevOps has; absent at other hosts. */
  azure?: HostAzureRun
}

/** The field `azure` of a pipeline run. `result`: that of the build in its own words. */
export type HostAzureRun = {
  orgName: string
  projectId: string
  repositoryId: string
  repositoryType: string
  result: string | null
}

/** A job of one attempt of a run. */
export type HostJob = {
  repository: HostRepository
  run_id: string
  attempt: number
  id: string
  name: string
  status: HostRunStatus
  started_at: Date | null
  completed_at: Date | null
  html_url: string | null
  runner: string | null
  /** The steps that failed, in order. */
  failed_steps: { number: number; name: string }[]
}

/** The result of one check of a commit, such as a job or the status of another service. */
export type HostCheck = {
  repository: HostRepository
  commit_sha: string
  id: string
  name: string
  /** The App or service that reports the check. */
  source: string
  status: HostRunStatus
  url: string | null
  started_at: Date | null
  completed_at: Date | null
}

/** A message that the host attached to a failed job. */
export type HostAnnotation = {
  level: 'error' | 'warning' | 'notice'
  title: string | null
  message: string
  path: string | null
  line: number | null
}

/** The jobs of a workflow, as its host resolved them. */
export type HostWorkflow = {
  jobs: { name: string; needs: string[] }[]
  /** Whether a job deploys to an environment. */
  deploys: boolean
}

/** What a host knows about the commit of a run. */
export type HostCommit = {
  sha: string
  message: string | null
  /** The account of the author; null if the address of the author belongs to none. */
  author: HostAccount | null
  /** The pull request whose merge created this commit. */
  merged_pull_request: HostPullRequestName | null
  /** The version (blob SHA) of the workflow file at this commit; null if there is none. */
  workflow_blob: string | null
}

/** The id under which we keep a run of a code host. */
export function formatHostRunId(provider: Provider, runId: string): string {
  return `${getCodeHost(provider).idPrefix}_run_${runId}`
}

/** What our ids of code hosts' runs begin with, by the name of the host's own CI system. */
export const HOST_RUN_PREFIXES: Readonly<Record<string, string>> = Object.fromEntries(
  PROVIDERS.map((provider) => [getCodeHost(provider).ciSystem, formatHostRunId(provider, '')]),
)

/** The place of a status in the order in which statuses follow each other. */
export function getStatusOrder(status: HostRunStatus): number {
  return { queued: 0, in_progress: 1 }[status as string] ?? 2
}
