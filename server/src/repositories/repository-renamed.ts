import type { Event } from '../platform/queue/event.ts'
import { REPOSITORY_KEY, type RepositoryKey, repositoryKeyText } from './repository-key.ts'

/**
 * Published when a known repository has another name: renamed or transferred on its code host, or
 * linked again. Subscribers read the name, so that events that arrive late do no harm.
 */
export const repositoryRenamed: Event<RepositoryKey> = {
  name: 'repositories.repository.renamed',
  payload: REPOSITORY_KEY,
  once: repositoryKeyText,
}
