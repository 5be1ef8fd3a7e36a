import type { DecisionTarget } from '../../codehosts/host-deployment.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import type { RuleDecision } from '../host/host-facts.ts'

/** Stores the decision of the service's own rule on a locked deployment of a code host. */
export async function updateRuleDecision(tx: Tx, { org_id, id }: DeploymentKey, decision: RuleDecision): Promise<void> {
  await tx`
    update deployments
    set rule_decision = ${decision},
      policy_evaluation = policy_evaluation || jsonb_build_object('answered', ${decision}::text)
    where org_id = ${org_id}
      and id = ${id}`
}

type TargetRow = Omit<DecisionTarget, 'repository'> & {
  provider: string
  repository_id: string
  repository_full_name: string
}

/** Where the decision on a deployment is sent; null if our rule was not asked by a code host. */
export async function findDecisionTarget(db: Db, { org_id, id }: DeploymentKey) {
  const [row] = await db<TargetRow[]>`
    select provider, repository_id, repository_full_name, environment, host_run_id as run_id, callback_url,
      (
        select callback_secret
        from deployment_gate_requests request
        where request.org_id = deployment.org_id
          and request.provider = deployment.provider
          and request.repository_id = deployment.repository_id
          and request.environment = deployment.environment
          and request.callback_url = deployment.callback_url
        order by request.requested_at desc
        limit 1
      ) as callback_secret
    from deployments deployment
    where org_id = ${org_id}
      and id = ${id}
      and host_run_id is not null
      and callback_url is not null`
  if (!row) return null
  const { provider, repository_id, repository_full_name, ...rest } = row
  const target: DecisionTarget = { repository: { id: repository_id, full_name: repository_full_name }, ...rest }
  return { provider, target }
}

/** Stores whether the decision of our rule could not be delivered to the host. */
export async function updateUndelivered(tx: Tx, { org_id, id }: DeploymentKey, undelivered: boolean): Promise<void> {
  await tx`
    update deployments
    set decision_undelivered = ${undelivered}
    where org_id = ${org_id}
      and id = ${id}`
}
