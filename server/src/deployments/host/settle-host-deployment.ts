import { isDeepStrictEqual } from 'node:util'
import { insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { publishUpdates, update } from '../../platform/queue/update.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import { refreshLive } from '../refresh-live.ts'
import { findDerived, updateDerived } from './host-deployment.store.ts'
import {
  findAttempts,
  findCallbackUrl,
  findNextSuccess,
  findRunFacts,
  isApprovedBeside,
  listReviews,
  listStatuses,
  lockFacts,
} from './host-facts.store.ts'
import type { DeploymentFacts, HostFacts } from './host-facts.ts'
import { computeDeployment, type DerivedDeployment } from './host-state.ts'

export type Settled = { facts: HostFacts; before: DerivedDeployment; derived: DerivedDeployment }

/**
 * Derives the state of a deployment of a code host from its facts and stores it, with its audit
 * entries. Locks the deployment. Returns null for deployments of opened gates.
 */
export async function settleHostDeployment(tx: Tx, key: DeploymentKey, now: Date): Promise<Settled | null> {
  const deployment = await lockFacts(tx, key)
  if (deployment === null) return null
  const [before, facts] = await Promise.all([findDerived(tx, key), readFacts(tx, deployment)])
  const derived = computeDeployment(facts)
  if (!isDeepStrictEqual({ ...before }, derived)) {
    await updateDerived(tx, key, derived, now)
    await recordChange(tx, deployment, { before, derived }, now)
    if (!isDeepStrictEqual(toLive(before), toLive(derived))) await refreshLive(tx, key)
    await publishUpdates(tx, key.org_id, [update('deployment', key.id)])
  }
  return { facts, before, derived }
}

/** What decides where the deployment runs. */
function toLive({ live_at, inactive_at, workflow_path }: DerivedDeployment) {
  return live_at === null ? null : { live_at, inactive_at, workflow_path }
}

/** Independent statements are sent together. */
async function readFacts(tx: Tx, deployment: DeploymentFacts): Promise<HostFacts> {
  const [statuses, reviews, run, callback_url, attempts, next_success] = await Promise.all([
    listStatuses(tx, deployment),
    listReviews(tx, deployment),
    findRunFacts(tx, deployment),
    findCallbackUrl(tx, deployment),
    findAttempts(tx, deployment),
    findNextSuccess(tx, deployment),
  ])
  const is_approved_beside = callback_url !== null && (await isApprovedBeside(tx, deployment))
  return { deployment, statuses, reviews, run, callback_url, is_approved_beside, ...attempts, next_success }
}

/** Audits a bypass and the cancellation of a waiting rule, once. */
async function recordChange(
  tx: Tx,
  { org_id, id, repository_address }: DeploymentFacts,
  { before, derived }: Pick<Settled, 'before' | 'derived'>,
  now: Date,
): Promise<void> {
  const entry = { principal: SYSTEM, object: { type: 'deployment', id }, reason: null }
  if (before.custom_rule_state === 'pending' && derived.custom_rule_state === 'cancelled')
    await insertAuditEntry(tx, org_id, { ...entry, action: 'deployment.cancel' }, now)
  if (before.bypass !== null || derived.bypass === null) return
  await insertAuditEntry(tx, org_id, { ...entry, action: 'deployment.bypass', details: derived.bypass }, now)
  await publish(tx, deploymentBypassed, { org_id, deployment_id: id, repository: repository_address })
}

/** Published when a deployment went on against its protection rules. */
export const deploymentBypassed = defineEvent('deployment.bypassed', {
  payload: definePayload({ org_id: text, deployment_id: text, repository: text }),
  subject: ({ deployment_id, repository }) => ({ type: 'deployment', id: deployment_id, repository }),
  updates: ({ deployment_id }) => [update('deployment', deployment_id)],
})
