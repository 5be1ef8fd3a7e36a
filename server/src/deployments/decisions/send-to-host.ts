import { enqueueCall } from '../../codehosts/calls/request-call.ts'
import type { HostAction } from '../../codehosts/code-host.ts'
import { findConnectionOfRepository } from '../../codehosts/connections/connection.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { formatComment } from './host-comment.ts'
import { findDecisionTarget } from './host-target.store.ts'

type HostDecision = { decision: 'approved' | 'rejected'; text: string }

/** Sends the decision of our rule to the code host, once. */
export async function sendDecision(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { decision, text }: HostDecision,
): Promise<void> {
  const action = { type: 'decision', decision, text } as const
  await send(services, tx, deployment, { key: getDecisionKey(deployment), action })
}

/** Posts a comment on a waiting deployment. `about` identifies it among those of the deployment. */
export async function sendComment(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { about, text }: { about: string; text: string },
): Promise<void> {
  await send(services, tx, deployment, {
    key: `deployment:${deployment.id}:${about}`,
    action: { type: 'comment', text },
  })
}

/** The idempotency key of the call that sends the decision. */
export function getDecisionKey({ id }: DeploymentKey): string {
  return `deployment:${id}:decision`
}

type WithoutTarget<Action> = Action extends unknown ? Omit<Action, 'target'> : never
type TargetedAction = WithoutTarget<Extract<HostAction, { type: 'decision' | 'comment' }>>

/** Does nothing if no connection has the repository any more. */
async function send(
  { config, clock }: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { key, action }: { key: string; action: TargetedAction },
): Promise<void> {
  const found = await findDecisionTarget(tx, deployment)
  if (found === null) return
  const { provider, target } = found
  const connection = await findConnectionOfRepository(tx, deployment.org_id, provider, target.repository.id)
  if (connection === null) return
  const text = formatComment(action.text, `${config.baseUrl}/deployments/${deployment.id}`)
  const call = {
    org_id: deployment.org_id,
    connection_id: connection.id,
    idempotency_key: key,
    subject: { type: 'deployment', id: deployment.id } as const,
    action: { ...action, text, target },
  }
  await enqueueCall(tx, call, clock.now())
}
