import type { HostSource } from '../../codehosts/host-event.ts'
import {
  getStatusOrder,
  type HostAzureRun,
  type HostPullRequestName,
  type HostRun,
  type TriggerKind,
} from '../../codehosts/host-run.ts'
import { computeHostVersion, isNewerVersion } from '../../codehosts/host-version.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import { isFinal, type RunStatus } from './run-status.ts'

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

/** A host's description of one attempt, with the version that it is from. */
export type AttemptVersion = {
  host_version: string
  status: RunStatus
  url: string | null
  /** The login of who started the attempt. */
  actor: string | null
  started_at: Date
  /** The earliest completion time that the host has named in any version. */
  completed_at: Date | null
  host_updated_at: Date
}

/** What is known of an attempt. `version` is null as long as only its jobs are known. */
export type AttemptFacts = { number: number; job_started: boolean; version: AttemptVersion | null }

/** An attempt as the API shows it. */
export type Attempt = {
  number: number
  status: RunStatus
  url: string | null
  actor: string | null
  started_at: Date
  completed_at: Date | null
}

/** The attempt that an event describes. */
export function toAttemptVersion(run: HostRun, learned: HostSource['learned']): AttemptVersion {
  const { repository, pull_requests, commit, ...facts } = run
  const { attempt, status, updated_at, started_at, html_url: url } = facts
  const actor = run.triggering_actor?.login ?? run.actor?.login ?? null
  const state = getStatusOrder(status)
  const content = [facts, commit.sha, repository.id]
  const host_version = computeHostVersion({ attempt, updated_at, state, content, learned })
  const completed_at = isFinal(status) ? (run.completed_at ?? updated_at) : null
  return { host_version, status, url, actor, started_at, completed_at, host_updated_at: updated_at }
}

/** The newer of two versions, with the earlier completion time of both. The order has no effect. */
export function mergeVersions(stored: AttemptVersion | null, given: AttemptVersion): AttemptVersion {
  if (stored === null) return given
  const newer = isNewerVersion(given.host_version, stored.host_version) ? given : stored
  return { ...newer, completed_at: earlier(stored.completed_at, given.completed_at) }
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a <= b ? a : b
}

/** The attempts of a run, and when the host last changed one of them. */
export type RunCourse = { newest: Attempt; earlier: Attempt[]; updated_at: Date }

/** The course of a run as the API shows it; null as long as only its jobs are known. */
export function toRunCourse(facts: readonly AttemptFacts[]): RunCourse | null {
  const known = facts.filter(isKnown).sort((a, b) => a.number - b.number)
  const attempts = known.map(toAttempt)
  const newest = attempts.pop()
  if (newest === undefined) return null
  const updatedAt = Math.max(...known.map(({ version }) => version.host_updated_at.getTime()))
  return { newest, earlier: attempts, updated_at: new Date(updatedAt) }
}

type KnownFacts = AttemptFacts & { version: AttemptVersion }

function isKnown(facts: AttemptFacts): facts is KnownFacts {
  return facts.version !== null
}

/**
 * A queued attempt with a started job is in progress. No attempt is completed before it started.
 */
function toAttempt({ number, job_started, version }: KnownFacts): Attempt {
  const { status, url, actor, started_at } = version
  const completedAt = version.completed_at ?? version.host_updated_at
  return {
    number,
    status: status === 'queued' && job_started ? 'in_progress' : status,
    url,
    actor,
    started_at,
    completed_at: isFinal(status) ? (completedAt > started_at ? completedAt : started_at) : null,
  }
}
