import { lazy } from '../../platform/lazy.ts'
import { defineJob, defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import { definePayload, integer, Optional, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'
import { formatRepositoryKey, REPOSITORY_KEY } from '../../repositories/repository-key.ts'
import type { Services } from '../../services.ts'
import { listDueRepositories } from './landing.store.ts'

const REPOSITORIES_MAX = 1000

/**
 * Writes the records of a repository's landings that are due. An import queues much of this work.
 */
export const recordChangesJob = defineJob('provenance.record-changes', {
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  priority: 10,
  once: formatRepositoryKey,
  run: lazy(async () => (await import('../changes/record-changes.ts')).recordChanges),
  updates: () => [update('change')],
})

/** Follows a review, check or run of a landing: the record may be due, or needs an amendment. */
export const followFactJob = defineJob('provenance.follow-fact', {
  payload: definePayload({ org_id: Optional(text), landing_id: integer }),
  attemptsMax: 10,
  priority: 10,
  run: lazy(async () => (await import('../changes/follow-fact.ts')).followFact),
})

/**
 * Queues the job of repositories with due landings: for their deadlines, and where a job was lost.
 */
export const recordDueChanges = defineScheduledJob('provenance.record-due-changes', {
  schedule: '* * * * *',
  async run({ sql, clock }: Services) {
    for (const repository of await listDueRepositories(sql, clock.now(), REPOSITORIES_MAX))
      await enqueue(sql, recordChangesJob, repository)
  },
})
