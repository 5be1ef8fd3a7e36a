import { Type } from 'typebox'
import type { Job } from '../platform/queue/job.ts'
import type { Services } from '../services.ts'
import { evaluateRepository } from './evaluate-repository.ts'

type Payload = { org_id: string; repository: string }

/** Evaluates the policies of a repository. What happens to it while this waits is seen by one evaluation. */
export const evaluateRepositoryJob: Job<Services, Payload> = {
  name: 'compliance.evaluate-repository',
  payload: Type.Object({ org_id: Type.String(), repository: Type.String() }),
  attemptsMax: 10,
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
  run: (services, { org_id, repository }) => evaluateRepository(services, org_id, repository),
}
