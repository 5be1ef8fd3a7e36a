import type { AnyDeployment, Deployment, DeploymentStatus } from '../../hosts/types.ts'
import { type Gitlab, iso } from '../gitlab.ts'
import { userShape } from './accounts.ts'
import { jobShape } from './pipelines.ts'

/** GitLab knows no inactive deployments. */
export function lastStatus({ statuses }: AnyDeployment): DeploymentStatus {
  return statuses.findLast(({ state }) => state !== 'inactive') as DeploymentStatus
}

export function deploymentStatus({ edition, approved }: Gitlab, deployment: AnyDeployment): string {
  const { state } = lastStatus(deployment)
  const words = { queued: 'created', in_progress: 'running', failure: 'failed', cancelled: 'canceled' } as const
  if (state === 'waiting') return edition === 'free' || approved.has(deployment) ? 'created' : 'blocked'
  return state in words ? words[state as keyof typeof words] : state
}

export function deploymentShape(gitlab: Gitlab, deployment: Deployment) {
  const { run, job, environment } = deployment
  return {
    id: deployment.id,
    iid: deployment.number,
    ref: deployment.ref,
    sha: deployment.sha,
    created_at: iso(deployment.created_at),
    updated_at: iso(lastStatus(deployment).created_at),
    status: deploymentStatus(gitlab, deployment),
    user: userShape(gitlab, deployment.creator),
    environment: { id: environment.id, name: environment.name, external_url: job.environment_url },
    deployable: jobShape(gitlab, run, job),
  }
}

/** As it is read alone: with the approvals. */
export function approvedShape(gitlab: Gitlab, deployment: Deployment) {
  const shape = deploymentShape(gitlab, deployment)
  if (gitlab.edition === 'free') return shape
  const people = deployment.run.approvals.filter((one) => one.deployment === deployment)
  const ours = gitlab.world.ruleAnswers.filter(
    ({ run_id, environment, state }) =>
      state !== null && run_id === deployment.run.id && environment === deployment.environment.name,
  )
  const last = gitlab.approved.get(deployment)
  const at = deployment.created_at
  const program = gitlab.world.program
  const answers = [
    ...people,
    ...(last && lastStatus(deployment).state === 'waiting' ? [{ ...last, state: 'approved' }] : ours).map(
      ({ state, comment }) => ({ user: program, state: state as string, comment, at }),
    ),
  ]
  return {
    ...shape,
    pending_approval_count: [...deployment.gates.values()].filter((state) => state === 'pending').length,
    approvals: answers.map(({ user, state, comment, at: given }) => ({
      user: userShape(gitlab, user),
      status: state,
      created_at: iso(given),
      comment,
    })),
  }
}
