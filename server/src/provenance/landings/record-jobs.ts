import { Type } from 'typebox'
import { REPOSITORY_KEY, repositoryKeyText } from '../../repositories/repository-key.ts'

/**
 * Writes the records of a repository's landings that are due. An import queues much of this work.
 */
export const recordChangesJob = {
  name: 'provenance.record-changes',
  payload: REPOSITORY_KEY,
  attemptsMax: 10,
  priority: 10,
  once: repositoryKeyText,
}

/** Follows a review, check or run of a landing: the record may be due, or needs an amendment. */
export const followFactJob = {
  name: 'provenance.follow-fact',
  payload: Type.Object({ org_id: Type.Optional(Type.String()), landing_id: Type.Integer() }),
  attemptsMax: 10,
  priority: 10,
}
