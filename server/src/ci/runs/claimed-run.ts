import type { Actor } from '../../access/actor.ts'
import type { TokenJob } from '../../access/oidc-trusts/token-job.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { createInvalidFieldsError, type FieldError } from '../../platform/http/errors.ts'
import { createRunId } from '../../platform/ids.ts'
import type { RunToStore } from './record-run.ts'
import { normalizeInstance } from './repository-address.ts'
import type { NewCiRun } from './run.schema.ts'
import type { AttemptRow } from './run-attempt.store.ts'
import { canBeSameInstance, decideTrustOfJob } from './trust.ts'

const TIMEOUT_MINUTES = 360

type ClaimedRunRequest = {
  job: TokenJob
  /** `host/owner/name` */
  repository: string
  /** Adds the fields that the claims do not have. */
  body: NewCiRun | null
}

/** The run that the claims of a token describe. No connected code host knows it. */
export function toClaimedRun(actor: Actor, { job, repository, body }: ClaimedRunRequest, now: Date): RunToStore {
  return {
    org_id: actor.org_id,
    id: createRunId(now),
    provider: 'other',
    ci_system: job.run.ci_system,
    ci_instance: job.run.ci_instance ?? normalizeInstance(body?.ci_instance),
    ci_system_name: body?.ci_system_name ?? null,
    external_run_id: job.run.external_run_id,
    repository,
    commit_sha: job.commit_sha ?? body?.commit_sha ?? null,
    ref: job.ref ?? body?.ref ?? null,
    pipeline_name: job.pipeline_name ?? body?.pipeline_name ?? job.run.ci_system,
    event: job.event === 'other' ? (body?.event ?? 'other') : job.event,
    trust: decideTrustOfJob(job, null),
    credential: actor.credential,
    claimed: {
      provider: job.provider,
      repository_id: job.repository.id,
      host: job.repository.host,
      claims: job.claims,
    },
    attempt: toAttempt(job, body, now),
    created_at: now,
  }
}

function toAttempt(job: TokenJob, body: NewCiRun | null, now: Date): AttemptRow {
  return {
    number: job.run.attempt ?? body?.attempt ?? 1,
    status: body?.status ?? 'in_progress',
    url: job.url ?? body?.url ?? null,
    actor: job.actor ?? body?.actor ?? null,
    started_at: body?.started_at === undefined ? now : new Date(body.started_at),
    deadline_at: new Date(now.getTime() + (body?.timeout_minutes ?? TIMEOUT_MINUTES) * MINUTE_MS),
  }
}

/** Throws 400 `invalid_request` that names the fields which contradict the claims of the token. */
export function checkClaims(job: TokenJob, body: NewCiRun): void {
  const { attempt, commit_sha, ref } = body
  const ci_instance = normalizeInstance(body.ci_instance)
  const errors: FieldError[] = []
  const refuse = (field: string, claimed: string | number) =>
    errors.push({ path: `/body/${field}`, message: `must be ${claimed}, as in the token` })
  if (ci_instance !== null && !canBeSameInstance(job.run.ci_instance, ci_instance))
    refuse('ci_instance', `${job.run.ci_instance}`)
  if (job.run.attempt !== null && attempt !== undefined && attempt !== job.run.attempt)
    refuse('attempt', job.run.attempt)
  if (job.commit_sha !== null && commit_sha !== job.commit_sha) refuse('commit_sha', job.commit_sha)
  if (job.ref !== null && ref !== undefined && !isSameRef(ref, job.ref)) refuse('ref', job.ref)
  if (errors.length > 0) throw createInvalidFieldsError(errors)
}

/**
 * True if two refs mean the same: `main` and `refs/heads/main`, and `v1` and `refs/tags/v1`,
 * because CI systems leave the prefix out.
 */
function isSameRef(one: string, other: string): boolean {
  return one === other || shortRef(one) === other || one === shortRef(other)
}

function shortRef(ref: string): string {
  return ref.replace(/^refs\/[^/]+\//, '')
}
