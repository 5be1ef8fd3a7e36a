import type { Tx } from '../../platform/db/sql.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { type DeploymentKey, OWN_RULE } from '../deployment-state.ts'
import type { StoredEvaluation } from '../policy/evaluation.ts'

/** What our protection rule says of a new deployment, and how its policies were evaluated. */
export type NewStanding = {
  status: DeploymentStatus
  custom_rule_state: 'pending' | 'approved'
  custom_rule_awaiting: string | null
  answer_until: Date | null
  policies_asked_at: Date | null
  evaluation: StoredEvaluation | null
}

/**
 * A deployment that a CI system has opened a gate for. All other columns follow from its being new.
 */
export type NewDeployment = DeploymentKey & {
  repository: string
  repository_full_name: string
  environment: string
  workflow_name: string
  pipeline_run_id: string
  job_id: string | null
  attempt: number
  previous_attempt_id: string | null
  superseded_by_id: string | null
  branch: string | null
  commit_sha: string | null
  author: string | null
  html_url: string | null
  standing: NewStanding
  created_at: Date
}

/** Inserts a deployment that has the service's own protection rule. */
export async function insertDeployment(tx: Tx, deployment: NewDeployment): Promise<void> {
  const { standing } = deployment
  const json = (value: unknown) => (value === undefined ? null : tx.json(value as never))
  await tx`
    insert into deployments (
      org_id, id, provider, repository, repository_full_name, environment, status, workflow_name, pipeline_run_id,
      job_id, attempt, previous_attempt_id, superseded_by_id, branch, commit_sha, author, html_url,
      protection_rule_type, protection_rule_types, gated, custom_rule_state, custom_rule_awaiting, answer_until,
      policies_asked_at, policy_evaluation, policy_rules, policy_evidence, created_at, updated_at
    )
    values (
      ${deployment.org_id}, ${deployment.id}, 'other', ${deployment.repository}, ${deployment.repository_full_name},
      ${deployment.environment}, ${standing.status}, ${deployment.workflow_name}, ${deployment.pipeline_run_id},
      ${deployment.job_id}, ${deployment.attempt}, ${deployment.previous_attempt_id}, ${deployment.superseded_by_id},
      ${deployment.branch}, ${deployment.commit_sha}, ${deployment.author}, ${deployment.html_url}, ${OWN_RULE},
      ${[OWN_RULE]}, true, ${standing.custom_rule_state}, ${standing.custom_rule_awaiting}, ${standing.answer_until},
      ${standing.policies_asked_at}, ${json(standing.evaluation?.policy_evaluation)},
      ${json(standing.evaluation?.policy_rules)}, ${json(standing.evaluation?.policy_evidence)},
      ${deployment.created_at}, ${deployment.created_at}
    )`
}

/**
 * Deployment ids of the nearest attempts before and after an attempt that have a deployment of the
 * same kind.
 */
export type NearestAttempts = { previous: string | null; next: string | null }

/** Makes the deployments of the nearest attempts refer to a new deployment. */
export async function updateNearestAttempts(
  tx: Tx,
  { org_id, id }: DeploymentKey,
  { previous, next }: NearestAttempts,
  at: Date,
): Promise<void> {
  await tx`
    update deployments
    set superseded_by_id = case when id = ${previous} then ${id} else superseded_by_id end,
      previous_attempt_id = case when id = ${next} then ${id} else previous_attempt_id end,
      updated_at = ${at}
    where org_id = ${org_id}
      and id in (${previous}, ${next})`
}
