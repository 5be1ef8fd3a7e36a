import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, integer, OneOf, Optional, type PayloadOf, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { RUN_STATUSES } from './run-status.ts'

/**
 * Published when an attempt reaches a final status, by an update or because its deadline has
 * passed.
 */
export const runFinished = defineEvent('run.finished', {
  payload: definePayload({ org_id: text, run_id: text, attempt: integer, status: OneOf(...RUN_STATUSES) }),
  subject: ({ run_id }) => ({ type: 'run', id: run_id }),
  updates: ({ run_id }) => [update('run', run_id)],
})

export type RunFinished = PayloadOf<typeof runFinished.payload>

/** Published when a report, its attestations or its uploaded artifacts change. */
export const reportChanged = defineEvent('report.changed', {
  payload: definePayload({ org_id: text, run_id: text }),
  subject: ({ run_id }) => ({ type: 'run', id: run_id }),
  updates: ({ run_id }) => [update('run', run_id)],
  // Changes of one run are serialized by its lock, so queueing the event once adds no waiting.
  once: ({ org_id, run_id }) => `${org_id} ${run_id}`,
})

/**
 * Published when a file that a scan or SBOM attestation names is uploaded, so that it can be read
 * into findings.
 */
export const artifactCompleted = defineEvent('ci.artifact.completed', {
  payload: definePayload({ org_id: text, artifact_id: text }),
  subject: ({ artifact_id }) => ({ type: 'artifact', id: artifact_id }),
  updates: () => [update('run')],
})

/** Published when a file that an ownership attestation names is uploaded. */
export const ownershipCompleted = defineEvent('ci.ownership.completed', {
  payload: definePayload({ org_id: text, artifact_id: text }),
  subject: ({ artifact_id }) => ({ type: 'artifact', id: artifact_id }),
  updates: () => [],
})

/**
 * Published when evidence that policies may have been given is no longer what it was: attestations
 * or artifacts of a run's attempt were replaced or deleted, or a stream of security reports was
 * replaced or ended (trust §2). `what` and `by` are words for people. `since` and `at` are RFC 3339
 * times: when policies can have been given it first, and when it went. A stream has its repository,
 * and its branch unless it is that of the tracked one. A run that was deleted has its commit.
 */
export const evidenceReplaced = defineEvent('ci.evidence.replaced', {
  payload: definePayload({
    org_id: text,
    what: text,
    by: text,
    since: text,
    at: text,
    run_id: Optional(text),
    attempt: Optional(integer),
    commit_sha: Optional(text),
    repository: Optional(text),
    branch: Optional(text),
  }),
  subject: ({ run_id = null, repository }) =>
    run_id === null ? { type: 'repository', id: null, ...(repository && { repository }) } : { type: 'run', id: run_id },
  updates: () => [],
})

export type EvidenceReplaced = PayloadOf<typeof evidenceReplaced.payload>

/**
 * Published when runs that were stored under a former address of a repository have its present one.
 */
export const addressChanged = defineEvent('ci.repository.address-changed', {
  payload: definePayload({ org_id: text, from: text, to: text }),
  subject: ({ to }) => ({ type: 'repository', id: null, repository: to }),
  updates: () => [update('run'), update('deployment')],
})
