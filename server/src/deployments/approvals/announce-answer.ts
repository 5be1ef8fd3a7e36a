import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/enqueue.ts'
import type { Services } from '../../services.ts'
import type { DeploymentState } from '../deployment-state.ts'
import type { Answer } from './answer.store.ts'
import { POST_COMMENT, POST_DECISION } from './post-answer-job.ts'

/**
 * Has the code host told, where one is connected: of the answer in a comment, and of the decision once the last answer
 * that it needs is there.
 */
export async function announceAnswer(
  { codeHosts }: Services,
  tx: Tx,
  orgId: string,
  { provider }: DeploymentState,
  { id }: Answer,
  isLast: boolean,
): Promise<void> {
  if (provider === null || !codeHosts.has(provider)) return
  const payload = { org_id: orgId, answer_id: id }
  await enqueue(tx, POST_COMMENT, payload)
  if (isLast) await enqueue(tx, POST_DECISION, payload)
}
