import type { Tx } from '../platform/db/sql.ts'

/** The facts of a deployment that a CI system asks to be let out; the rest follows from its being new. */
export type NewDeployment = {
  id: string
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
  commit_sha: string
  author: string | null
  html_url: string | null
  answer_until: Date
  created_at: Date
}

/** The kind of protection rule that is the service's own. */
export const OWN_RULE = 'customRule'

/** Stores a deployment that waits for the service's own rule. */
export async function insertDeployment(tx: Tx, orgId: string, deployment: NewDeployment): Promise<void> {
  await tx`
    insert into deployments (
      org_id, id, provider, repository, repository_full_name, environment, status, workflow_name, pipeline_run_id,
      job_id, attempt, previous_attempt_id, superseded_by_id, branch, commit_sha, author, html_url,
      protection_rule_type, protection_rule_types, gated, custom_rule_state, custom_rule_awaiting, answer_until,
      created_at, updated_at
    )
    values (
      ${orgId}, ${deployment.id}, 'other', ${deployment.repository}, ${deployment.repository_full_name},
      ${deployment.environment}, 'pending_approval', ${deployment.workflow_name}, ${deployment.pipeline_run_id},
      ${deployment.job_id}, ${deployment.attempt}, ${deployment.previous_attempt_id}, ${deployment.superseded_by_id},
      ${deployment.branch}, ${deployment.commit_sha}, ${deployment.author}, ${deployment.html_url}, ${OWN_RULE},
      ${[OWN_RULE]}, true, 'pending', 'manual_decision_required', ${deployment.answer_until},
      ${deployment.created_at}, ${deployment.created_at}
    )`
}

export type Neighbours = { previous: string | null; next: string | null }

/** The deployments of the nearest attempts before and after one, of the same run, job and environment. The run is locked. */
export async function findNeighbours(tx: Tx, orgId: string, key: OpenedGateKey): Promise<Neighbours> {
  const ofOtherAttempts = tx`
    select deployment_id
    from opened_gates
    where org_id = ${orgId}
      and run_id = ${key.run_id}
      and environment = ${key.environment}
      and job = ${key.job}`
  const [row] = await tx<[Neighbours]>`
    select (${ofOtherAttempts} and attempt < ${key.attempt} order by attempt desc limit 1) as previous,
      (${ofOtherAttempts} and attempt > ${key.attempt} order by attempt limit 1) as next`
  return row
}

/** What makes two openings the same one. `job` is empty where none was named. */
export type OpenedGateKey = { run_id: string; attempt: number; environment: string; job: string }

/** Ties a new deployment's neighbours to it. */
export async function linkNeighbours(tx: Tx, orgId: string, id: string, { previous, next }: Neighbours, at: Date) {
  await tx`
    update deployments
    set superseded_by_id = case when id = ${previous} then ${id} else superseded_by_id end,
      previous_attempt_id = case when id = ${next} then ${id} else previous_attempt_id end,
      updated_at = ${at}
    where org_id = ${orgId}
      and id in (${previous}, ${next})`
}
