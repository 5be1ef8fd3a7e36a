import { type Static, Type } from 'typebox'
import type {
  HostDeployment,
  HostDeploymentState,
  HostDeploymentStatus,
  HostRunAttempt,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './repository.parser.ts'

export const Deployment = Type.Object({
  id: Id,
  environment: Text,
  ref: Maybe(Text),
  sha: Text,
  creator: Maybe(Account),
  description: Maybe(Text),
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
})

/** The run that deploys, in webhooks. */
export const DeployingRun = Type.Object({ id: Id, run_attempt: Maybe(Id) })

export function runAttemptOf(run: Static<typeof DeployingRun> | null | undefined): HostRunAttempt | null {
  return run ? { id: String(run.id), attempt: run.run_attempt || null } : null
}

export function deploymentOf(
  deployment: Static<typeof Deployment>,
  repository: HostRepository,
  run: HostRunAttempt | null,
): HostDeployment {
  return {
    repository,
    id: String(deployment.id),
    environment: deployment.environment,
    ref: textOrNull(deployment.ref),
    commit_sha: deployment.sha,
    run,
    creator: accountOf(deployment.creator),
    description: textOrNull(deployment.description),
    created_at: new Date(deployment.created_at),
    updated_at: new Date(deployment.updated_at ?? deployment.created_at),
  }
}

/** A deployment of a list. Lists do not name the run; the statuses of the deployment may. */
export function parseDeployment(value: unknown, repository: HostRepository): HostDeployment {
  return deploymentOf(readAs(Deployment, value), repository, null)
}

export const DeploymentStatus = Type.Object({
  id: Maybe(Id),
  state: Text,
  creator: Maybe(Account),
  environment_url: Maybe(Text),
  log_url: Maybe(Text),
  target_url: Maybe(Text),
  created_at: Timestamp,
})

const STATES: Readonly<Record<string, HostDeploymentState>> = {
  queued: 'waiting',
  pending: 'waiting',
  waiting: 'waiting',
  in_progress: 'in_progress',
  success: 'success',
  failure: 'failure',
  error: 'failure',
  cancelled: 'cancelled',
  inactive: 'inactive',
}

/**
 * Null for a state that we do not know. `jobId` is null if the payload does not name the job: then
 * the address of the log does, and the run too.
 */
export function deploymentStatusOf(
  status: Static<typeof DeploymentStatus>,
  deployment: HostDeployment,
  jobId: string | null,
): HostDeploymentStatus | null {
  const state = STATES[status.state]
  if (state === undefined) return null
  const logUrl = textOrNull(status.log_url) ?? textOrNull(status.target_url)
  const named = idsOfLog(logUrl, deployment.repository)
  const run = deployment.run ?? (named.run_id === null ? null : { id: named.run_id, attempt: null })
  return {
    deployment: { ...deployment, run },
    id: status.id ? String(status.id) : null,
    state,
    environment_url: textOrNull(status.environment_url),
    log_url: logUrl,
    job_id: jobId ?? named.job_id,
    creator: accountOf(status.creator),
    created_at: new Date(status.created_at),
  }
}

export function parseDeploymentStatus(value: unknown, deployment: HostDeployment): HostDeploymentStatus | null {
  return deploymentStatusOf(readAs(DeploymentStatus, value), deployment, null)
}

const RUN_PATH = /^\/actions\/runs\/([1-9]\d{0,15})(?:\/jobs?\/([1-9]\d{0,15}))?(?:\/|$)/
/** The older form, which names the job only. */
const JOB_PATH = /^\/runs\/([1-9]\d{0,15})\/?$/

/**
 * The log of a workflow's deployment is the page of the job. Anyone who may create statuses chooses
 * the address, so that of another repository is ignored.
 */
function idsOfLog(address: string | null, repository: HostRepository) {
  const none = { run_id: null, job_id: null }
  if (address === null || !URL.canParse(address)) return none
  const { host, pathname } = new URL(address)
  const prefix = `/${repository.full_name}`
  if (host !== repository.host || !pathname.toLowerCase().startsWith(`${prefix.toLowerCase()}/`)) return none
  const path = pathname.slice(prefix.length)
  const [, runId = null, jobId = null] = RUN_PATH.exec(path) ?? []
  return { run_id: runId, job_id: jobId ?? JOB_PATH.exec(path)?.[1] ?? null }
}
