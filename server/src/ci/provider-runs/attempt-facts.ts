import type { HostRun } from '../../codehosts/host-run.ts'
import { computeHostVersion, getStatusOrder } from '../../codehosts/host-version.ts'
import { isFinal, type RunStatus } from '../runs/run-status.ts'

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
export function toAttemptVersion(run: HostRun): AttemptVersion {
  const { repository, pull_requests, commit, ...facts } = run
  const { attempt, status, updated_at, started_at, html_url: url } = facts
  const actor = run.triggering_actor?.login ?? run.actor?.login ?? null
  const state = getStatusOrder(status)
  const host_version = computeHostVersion({ attempt, updated_at, state, content: [facts, commit.sha, repository.id] })
  const completed_at = isFinal(status) ? (run.completed_at ?? updated_at) : null
  return { host_version, status, url, actor, started_at, completed_at, host_updated_at: updated_at }
}

/** The newer of two versions, with the earlier completion time of both. The order has no effect. */
export function mergeVersions(stored: AttemptVersion | null, given: AttemptVersion): AttemptVersion {
  if (stored === null) return given
  const newer = given.host_version > stored.host_version ? given : stored
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
