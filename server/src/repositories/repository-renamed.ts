import { Type } from 'typebox'
import type { Event } from '../platform/queue/event.ts'

type RenamedRepository = { org_id: string; provider: string; repository_id: string }

/**
 * Published when a known repository has another name: renamed or transferred on its code host, or
 * linked again. Subscribers read the name, so that events that arrive late do no harm.
 */
export const repositoryRenamed: Event<RenamedRepository> = {
  name: 'repositories.repository.renamed',
  payload: Type.Object({ org_id: Type.String(), provider: Type.String(), repository_id: Type.String() }),
  once: ({ org_id, provider, repository_id }) => `${org_id} ${provider} ${repository_id}`,
}
