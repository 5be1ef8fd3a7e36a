import { defineEvent } from '../platform/queue/event.ts'
import { update } from '../platform/queue/update.ts'
import { formatRepositoryKey, REPOSITORY_KEY } from './repository-identity.ts'

/**
 * Published when a known repository has another name: renamed or transferred on its code host, or
 * linked again. Subscribers read the name, so that events that arrive late do no harm.
 */
export const repositoryRenamed = defineEvent('repositories.repository.renamed', {
  payload: REPOSITORY_KEY,
  subject: ({ repository_id }) => ({ type: 'repository', id: repository_id }),
  updates: () => [update('repository'), update('run'), update('deployment'), update('alert')],
  once: formatRepositoryKey,
})
