import { Type } from 'typebox'
import type { Event } from '../platform/queue/event.ts'

/** Published when a code host renamed or transferred a repository. */
export const repositoryRenamed: Event<{ org_id: string; provider: string; repository_id: string }> = {
  name: 'repositories.repository.renamed',
  payload: Type.Object({ org_id: Type.String(), provider: Type.String(), repository_id: Type.String() }),
}
