import { defineEvent } from '../../platform/queue/event.ts'
import { definePayload, integer, OneOf, type PayloadOf, text } from '../../platform/queue/payload.ts'
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
