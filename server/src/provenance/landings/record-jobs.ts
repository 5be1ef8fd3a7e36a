import { type Static, Type } from 'typebox'

const RepositoryPayload = Type.Object({ org_id: Type.String(), provider: Type.String(), repository_id: Type.String() })
type RepositoryPayload = Static<typeof RepositoryPayload>

/**
 * Writes the records of a repository's landings that are due. An import queues much of this work.
 */
export const recordChangesJob = {
  name: 'provenance.record-changes',
  payload: RepositoryPayload,
  attemptsMax: 10,
  priority: 10,
  once: ({ org_id, provider, repository_id }: RepositoryPayload) => `${org_id} ${provider} ${repository_id}`,
}

/** Follows a review, check or run of a landing: the record may be due, or needs an amendment. */
export const followFactJob = {
  name: 'provenance.follow-fact',
  payload: Type.Object({ landing_id: Type.Integer() }),
  attemptsMax: 10,
  priority: 10,
}
