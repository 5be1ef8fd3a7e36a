import { type Static, Type } from 'typebox'
import type {
  HostDeployment,
  HostDeploymentReview,
  HostDeploymentState,
  HostDeploymentStatus,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './account.parser.ts'

const Deployable = Type.Object({
  id: Id,
  status: Maybe(Text),
  created_at: Maybe(Timestamp),
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
  web_url: Maybe(Text),
  pipeline: Maybe(Type.Object({ id: Id })),
})

const Approval = Type.Object({
  user: Maybe(Account),
  status: Text,
  created_at: Timestamp,
  comment: Maybe(Text),
})

const Deployment = Type.Object({
  id: Id,
  ref: Maybe(Text),
  sha: Text,
  status: Text,
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
  user: Maybe(Account),
  environment: Type.Object({ name: Text, external_url: Maybe(Text) }),
  /** The job that deploys. Deployments that were made by the API have none. */
  deployable: Maybe(Deployable),
  approvals: Maybe(Type.Array(Approval)),
  approval_summary: Maybe(
    Type.Object({
      rules: Maybe(Type.Array(Type.Object({ deployment_approvals: Maybe(Type.Array(Approval)) }))),
    }),
  ),
})
export type Deployment = Static<typeof Deployment>

export function parseDeployment(value: unknown): Deployment {
  return readAs(Deployment, value)
}

export function deploymentOf(deployment: Deployment, repository: HostRepository): HostDeployment {
  const pipeline = deployment.deployable?.pipeline
  return {
    repository,
    id: String(deployment.id),
    environment: deployment.environment.name,
    ref: textOrNull(deployment.ref),
    commit_sha: deployment.sha,
    run: pipeline ? { id: String(pipeline.id), attempt: null } : null,
    creator: accountOf(deployment.user),
    description: null,
    created_at: new Date(deployment.created_at),
    updated_at: new Date(deployment.updated_at ?? deployment.created_at),
  }
}

const STATES: Readonly<Record<string, HostDeploymentState>> = {
  created: 'waiting',
  blocked: 'waiting',
  running: 'in_progress',
  success: 'success',
  failed: 'failure',
  canceled: 'cancelled',
  skipped: 'cancelled',
}

/**
 * GitLab keeps no list of states. The earlier ones follow from the times of the deployment and of
 * its job, so that they are the same whenever they are read. None for a state that we do not know.
 */
export function statusesOf(found: Deployment, deployment: HostDeployment): HostDeploymentStatus[] {
  const state = STATES[found.status]
  if (state === undefined) return []
  const job = found.deployable
  const waiting = { state: 'waiting' as const, at: deployment.created_at }
  const startedAt = dateOrNull(job?.started_at) ?? (job ? null : deployment.created_at)
  const started = startedAt === null ? [] : [{ state: 'in_progress' as const, at: startedAt }]
  const endedAt = dateOrNull(job?.finished_at) ?? deployment.updated_at
  const passed = state === 'waiting' ? [] : state === 'in_progress' ? inProgress(started, deployment) : started
  const ended = state === 'waiting' || state === 'in_progress' ? [] : [{ state, at: endedAt }]
  return [waiting, ...passed, ...ended].map((one) => statusOf(found, deployment, one))
}

type TimedState = { state: HostDeploymentState; at: Date }

/** Without the start of the job, the last change of the deployment is its start. */
function inProgress(started: TimedState[], { updated_at: at }: HostDeployment): TimedState[] {
  return started.length > 0 ? started : [{ state: 'in_progress', at }]
}

function statusOf(found: Deployment, deployment: HostDeployment, { state, at }: TimedState): HostDeploymentStatus {
  const job = found.deployable
  return {
    deployment,
    id: null,
    state,
    environment_url: textOrNull(found.environment.external_url),
    log_url: textOrNull(job?.web_url),
    job_id: job ? String(job.id) : null,
    creator: deployment.creator,
    created_at: at,
  }
}

/** The answers of people. `ownId` is the id of our own user, whose answers are our decisions. */
export function reviewsOf(found: Deployment, deployment: HostDeployment, ownId: string | null): HostDeploymentReview[] {
  const { run, repository, environment } = deployment
  if (run === null) return []
  return approvalsOf(found).flatMap(({ user, status, comment, created_at }): HostDeploymentReview[] => {
    const isAnswer = status === 'approved' || status === 'rejected'
    if (!isAnswer || (user && String(user.id) === ownId)) return []
    const answer = { state: status, reviewer: accountOf(user), comment: textOrNull(comment) } as const
    return [{ repository, run, environments: [environment], ...answer, at: new Date(created_at) }]
  })
}

/** All answers: without rules, and for each of several rules. */
export function approvalsOf({ approvals, approval_summary: summary }: Deployment): Static<typeof Approval>[] {
  const ofRules = (summary?.rules ?? []).flatMap(({ deployment_approvals: given }) => given ?? [])
  const all = [...(approvals ?? []), ...ofRules]
  const byKey = new Map(all.map((one) => [`${one.user?.id} ${one.status} ${one.created_at}`, one]))
  return [...byKey.values()]
}
