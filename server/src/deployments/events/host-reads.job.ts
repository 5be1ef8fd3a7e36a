import { lazy } from '../../platform/lazy.ts'
import { defineJob, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, integer, Optional, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'

/** Whom jobs wait for that an earlier version queued, which did not name the host. */
const DEPLOYMENTS = 'deployments'

/** Reads the protection rules of an environment from its host. */
export const readEnvironmentJob = defineJob('deployments.read-environment', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: definePayload({ org_id: text, provider: text, repository_id: text, environment: text }),
  attemptsMax: 6,
  once: (key) => JSON.stringify([key.org_id, key.provider, key.repository_id, key.environment]),
  run: lazy(async () => (await import('./read-environment.ts')).readEnvironment),
  giveUp: lazy(async () => (await import('./read-environment.ts')).abandonEnvironment),
  updates: () => [update('deployment')],
})

/** Reads the answers of reviewers, before a deployment counts as one that bypassed them. */
export const readReviewsJob = defineJob('deployments.read-reviews', {
  waitsFor: ({ provider }) => formatLoneParty(provider ?? DEPLOYMENTS),
  payload: definePayload({ org_id: text, id: text, provider: Optional(text) }),
  attemptsMax: 6,
  once: ({ org_id, id }) => `${org_id} ${id}`,
  run: lazy(async () => (await import('./read-reviews.ts')).readReviews),
  giveUp: lazy(async () => (await import('./read-reviews.ts')).abandonReviews),
  updates: ({ id }) => [update('deployment', id)],
})

/** Reads which attempt of its run a deployment belongs to, because lists do not name it. */
export const readAttemptJob = defineJob('deployments.read-attempt', {
  waitsFor: ({ provider }) => formatLoneParty(provider ?? DEPLOYMENTS),
  payload: definePayload({ org_id: text, id: text, job_id: text, newest: integer, provider: Optional(text) }),
  attemptsMax: 6,
  once: ({ org_id, id }) => `${org_id} ${id}`,
  run: lazy(async () => (await import('./read-reviews.ts')).readAttempt),
  updates: ({ id }) => [update('deployment', id)],
})

/**
 * Asks the host whether a deployment waits for our rule, because no request of its own has arrived.
 */
export const readRequestsJob = defineJob('deployments.read-requests', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: definePayload({ org_id: text, id: text, provider: text }),
  attemptsMax: 6,
  once: ({ org_id, id }) => `${org_id} ${id}`,
  run: lazy(async () => (await import('./read-reviews.ts')).readRequests),
  updates: ({ id }) => [update('deployment', id)],
})
