import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { listAskedGates } from '../asked-gate.store.ts'
import { selectLater, selectRequired } from '../asked-gate.ts'
import { decideByPolicyJob } from '../decisions/decide-by-policy.ts'
import { ANSWER_WITHIN_MS, type DeploymentKey } from '../deployment-state.ts'
import { updateAnswerUntil } from '../host/host-deployment.store.ts'
import { type Settled, settleHostDeployment } from '../host/settle-host-deployment.ts'
import { deleteRequiredGates, hasRequiredGates, insertRequiredGates, listUncovered } from './required-gate.store.ts'

/**
 * Derives the state of a deployment of a code host, and makes it require the configured gates that
 * cover it if our rule was asked. It must be answered within 12 hours from then. Without a gate it
 * waits for a person. Returns null for deployments of opened gates.
 */
export async function settleAndCover(services: Services, tx: Tx, key: DeploymentKey): Promise<Settled | null> {
  const now = services.clock.now()
  const settled = await settleHostDeployment(tx, key, now)
  if (settled === null) return null
  if (settled.before.branch !== settled.derived.branch) await deleteRequiredGates(tx, key)
  if (settled.derived.custom_rule_state !== 'pending') return settled
  const isNew = settled.before.custom_rule_state === null || hasNewFacts(settled)
  if (isNew) await enqueue(tx, decideByPolicyJob, key)
  if (await hasRequiredGates(tx, key)) return settled
  const { repository_address: repository, environment, provider, org_id } = settled.facts.deployment
  const target = { environment, repository, provider, branch: settled.derived.branch }
  const opened = settled.facts.deployment.created_at
  const versions = await listAskedGates(tx, org_id, { opened, now })
  const hasWaited = settled.before.custom_rule_state === 'pending'
  // Of another branch, it may not have been known that gates from before the opening cover it.
  const later =
    settled.before.branch === settled.derived.branch ? versions : versions.filter(({ made_at }) => made_at > opened)
  const covering = hasWaited ? selectLater(versions, later, target, now) : selectRequired(versions, target, now)
  if (covering.length === 0) return settled
  await insertRequiredGates(tx, key, covering, null)
  await updateAnswerUntil(tx, key, new Date(now.getTime() + ANSWER_WITHIN_MS))
  if (!isNew) await enqueue(tx, decideByPolicyJob, key)
  const covered = await settleHostDeployment(tx, key, now)
  return covered && { ...covered, before: settled.before }
}

/** What the policies see of the host. They are evaluated again when it arrives or changes. */
function hasNewFacts({ before, derived }: Settled): boolean {
  const hasNewRun = before.run_created_at === null && derived.run_created_at !== null
  const getSeen = ({
    branch,
    workflow_name,
    workflow_path,
    protection_rule_types,
    required_reviewers,
    required_reviewer_teams,
  }: Settled['derived']) => [
    ...[branch, workflow_name, workflow_path],
    ...[protection_rule_types, required_reviewers, required_reviewer_teams],
  ]
  return hasNewRun || !isDeepStrictEqual(getSeen(before), getSeen(derived))
}

/** After a gate was configured: covers the waiting deployments that have no gate yet. */
export async function assignGates(services: Services, { org_id }: { org_id: string | null }): Promise<void> {
  for (const deployment of await listUncovered(services.sql, org_id)) {
    const key = { org_id: deployment.org_id, id: deployment.id }
    await services.sql.begin((tx) => settleAndCover(services, tx, key))
  }
}
