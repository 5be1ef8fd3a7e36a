import { type Static, Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostRunAttempt } from '../../host-deployment.ts'
import { dateOrNull, Id, Maybe, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import {
  DeployingRun,
  Deployment,
  DeploymentStatus,
  deploymentOf,
  deploymentStatusOf,
  runAttemptOf,
} from '../objects/deployment.parser.ts'
import { Account, accountOf } from '../objects/repository.parser.ts'
import { jobOf, runOf, Workflow, WorkflowJob, WorkflowRun } from '../objects/run.parser.ts'
import { type EventTranslator, repositoryEvent } from './event-translator.ts'

/** Older servers leave the actor out of the run. The sender of the event is the same account. */
export const workflowRun = repositoryEvent(
  { workflow_run: WorkflowRun, workflow: Maybe(Workflow), sender: Maybe(Account) },
  ({ workflow_run: run, workflow, sender }, repository) => ({
    kind: 'run',
    data: runOf({ ...run, actor: run.actor ?? sender ?? null }, repository, workflow),
  }),
)

export const workflowJob = repositoryEvent({ workflow_job: WorkflowJob }, ({ workflow_job: job }, repository) => ({
  kind: 'job',
  data: jobOf(job, repository),
}))

export const deployment = repositoryEvent(
  { deployment: Deployment, workflow_run: Maybe(DeployingRun) },
  ({ deployment, workflow_run: run }, repository) => ({
    kind: 'deployment',
    data: deploymentOf(deployment, repository, runAttemptOf(run)),
  }),
)

/** The check run of a workflow's deployment is its job: both have the same id. */
export const deploymentStatus = repositoryEvent(
  {
    deployment_status: DeploymentStatus,
    deployment: Deployment,
    workflow_run: Maybe(DeployingRun),
    check_run: Maybe(Type.Object({ id: Id })),
  },
  ({ deployment_status: status, deployment, workflow_run: run, check_run: check }, repository) => {
    const deployed = deploymentOf(deployment, repository, runAttemptOf(run))
    const data = deploymentStatusOf(status, deployed, run && check ? String(check.id) : null)
    return data && { kind: 'deployment_status', data }
  },
)

const CALLBACK_RUN = /\/actions\/runs\/([1-9]\d{0,15})\/deployment_protection_rule$/

/** The payload has no time of its own: that of the deployment is used, else the current time. */
export function deploymentProtectionRule(clock: Clock): EventTranslator {
  return repositoryEvent(
    {
      environment: Text,
      deployment_callback_url: Text,
      deployment: Maybe(Deployment),
      ref: Maybe(Text),
      sha: Maybe(Text),
    },
    ({ environment, deployment_callback_url: callbackUrl, deployment, ref, sha }, repository) => {
      const run = runOfCallback(callbackUrl)
      const data = {
        repository,
        environment,
        deployment: deployment ? deploymentOf(deployment, repository, run) : null,
        run,
        ref: textOrNull(ref) ?? textOrNull(deployment?.ref),
        commit_sha: textOrNull(sha) ?? deployment?.sha ?? null,
        callback_url: callbackUrl,
        callback_secret: null,
        is_rule: true,
        requested_at: dateOrNull(deployment?.created_at) ?? clock.now(),
      }
      return { kind: 'gate_request', data }
    },
  )
}

function runOfCallback(callbackUrl: string): HostRunAttempt | null {
  const path = URL.canParse(callbackUrl) ? new URL(callbackUrl).pathname : ''
  const id = CALLBACK_RUN.exec(path)?.[1]
  return id === undefined ? null : { id, attempt: null }
}

const JobRun = Type.Object({ environment: Maybe(Text), updated_at: Maybe(Timestamp) })

const REVIEW_FIELDS = {
  action: Text,
  workflow_run: Maybe(Type.Object({ ...DeployingRun.properties, updated_at: Timestamp })),
  environment: Maybe(Text),
  workflow_job_run: Maybe(JobRun),
  workflow_job_runs: Maybe(Type.Array(JobRun)),
  approver: Maybe(Account),
  comment: Maybe(Text),
}
const ReviewPayload = Type.Object(REVIEW_FIELDS)

/** A payload without a run cannot be assigned to a deployment. */
export const deploymentReview = repositoryEvent(REVIEW_FIELDS, (payload, repository) => {
  const { action, workflow_run: run, approver, comment } = payload
  if (!run || (action !== 'requested' && action !== 'approved' && action !== 'rejected')) return null
  const data = {
    repository,
    run: { id: String(run.id), attempt: run.run_attempt || null },
    environments: environmentsOf(payload),
    state: action,
    reviewer: accountOf(approver),
    comment: textOrNull(comment),
    at: new Date(run.updated_at),
  } as const
  return { kind: 'deployment_review', data }
})

function environmentsOf(payload: Static<typeof ReviewPayload>): string[] {
  const jobs = [payload.workflow_job_run, ...(payload.workflow_job_runs ?? [])]
  const names = [payload.environment, ...jobs.map((job) => job?.environment)]
  return [...new Set(names.flatMap((name) => textOrNull(name) ?? []))]
}
