import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostWebhooks, InstallationEvent, TranslatedDelivery } from '../../code-host.ts'
import type { HostAlertType } from '../../host-alert.ts'
import type { HostPushedCommit } from '../../host-change.ts'
import type { HostRunAttempt } from '../../host-deployment.ts'
import type { HostEvent } from '../../host-event.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, TextOrSeconds, Timestamp, textOrNull, timeOf } from '../../kit/payload.ts'
import { commitOrNull, PullRequest, pullRequestOf, Review, reviewOf } from './changes.ts'
import { CheckRun, checkOf } from './checks.ts'
import {
  DeployingRun,
  Deployment,
  DeploymentStatus,
  deploymentOf,
  deploymentStatusOf,
  runAttemptOf,
} from './deployments.ts'
import { jobOf, WorkflowJob } from './jobs.ts'
import {
  Account,
  accountOf,
  Installation,
  installationOf,
  isMergeQueue,
  Repository,
  repositoryOf,
} from './repositories.ts'
import { runOf, Workflow, WorkflowRun } from './runs.ts'

/** Every event that we use, by the name in `X-GitHub-Event`. */
export function createTranslate(clock: Clock): HostWebhooks['translate'] {
  const translators: Readonly<Record<string, EventTranslator>> = {
    workflow_run: workflowRun,
    workflow_job: workflowJob,
    check_run: checkRun,
    deployment,
    deployment_status: deploymentStatus,
    deployment_protection_rule: deploymentProtectionRule(clock),
    deployment_review: deploymentReview,
    code_scanning_alert: alertChange('code_scanning'),
    dependabot_alert: alertChange('dependabot'),
    secret_scanning_alert: alertChange('secret_scanning'),
    pull_request: pullRequest,
    pull_request_review: pullRequestReview,
    push,
    repository,
    installation,
    installation_repositories: installation,
  }
  return (event, payload) =>
    Object.hasOwn(translators, event) ? (translators[event] as EventTranslator)(payload) : { type: 'unknown' }
}

/** Reads the payload of one event. Throws an `Error` that names the field if it does not fit. */
export type EventTranslator = (payload: unknown) => TranslatedDelivery

/**
 * Translates payloads that have these fields and a repository. `toEvent` returns null for one that
 * tells nothing.
 */
export function repositoryEvent<Fields extends TProperties>(
  fields: Fields,
  toEvent: (payload: Static<TObject<Fields>>, repository: HostRepository) => HostEvent | null,
): EventTranslator {
  const own = Type.Object(fields)
  const common = Type.Object({ repository: Repository })
  return (payload) => {
    const repository = repositoryOf(readAs(common, payload).repository)
    const event = toEvent(readAs(own, payload), repository)
    return event === null ? { type: 'unknown' } : { type: 'events', events: [event] }
  }
}

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

export const pullRequest = repositoryEvent({ pull_request: PullRequest }, ({ pull_request: pull }, repository) => ({
  kind: 'pull_request',
  data: pullRequestOf(pull, repository),
}))

export const pullRequestReview = repositoryEvent(
  { review: Review, pull_request: Type.Object({ number: Id }) },
  ({ review, pull_request: pull }, repository) => {
    const data = reviewOf(review, repository, pull.number)
    return data && { kind: 'review', data }
  },
)

export const checkRun = repositoryEvent({ check_run: CheckRun }, ({ check_run: check }, repository) => ({
  kind: 'check',
  data: checkOf(check, repository),
}))

const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text), username: Maybe(Text) })
const PushedCommit = Type.Object({ id: Text, message: Text, timestamp: Timestamp, author: Person, committer: Person })

export const push = repositoryEvent(
  {
    ref: Text,
    before: Text,
    after: Text,
    forced: Maybe(Type.Boolean()),
    sender: Maybe(Account),
    pusher: Maybe(Type.Object({ name: Maybe(Text) })),
    commits: Maybe(Type.Array(PushedCommit)),
    repository: Type.Object({ pushed_at: TextOrSeconds }),
  },
  (payload, repository) => {
    const data = {
      repository,
      ref: payload.ref,
      before: commitOrNull(payload.before),
      after: commitOrNull(payload.after),
      forced: payload.forced ?? false,
      pusher: accountOf(payload.sender),
      by_merge_queue: isMergeQueue(payload.sender?.login) || isMergeQueue(payload.pusher?.name),
      commits: (payload.commits ?? []).map(commitOf),
      pushed_at: timeOf(payload.repository.pushed_at),
    }
    return { kind: 'push', data }
  },
)

function commitOf(commit: Static<typeof PushedCommit>): HostPushedCommit {
  return {
    sha: commit.id,
    message: textOrNull(commit.message) ?? '',
    author: personOf(commit.author),
    committer: personOf(commit.committer),
    at: new Date(commit.timestamp),
  }
}

function personOf({ name, email, username }: Static<typeof Person>): HostPushedCommit['author'] {
  return { name: textOrNull(name) ?? '', email: textOrNull(email), login: textOrNull(username) }
}

/** The payloads of alerts lack fields, so they only say which alert changed. */
export function alertChange(type: HostAlertType): EventTranslator {
  return repositoryEvent({ alert: Type.Object({ number: Id }) }, ({ alert }, repository) => ({
    kind: 'alert_change',
    data: { type, number: alert.number, repository },
  }))
}

/** A deleted repository keeps its last facts. Every other action changes them. */
export const repository = repositoryEvent({ action: Maybe(Text) }, ({ action }, repository) => ({
  kind: 'repository',
  data: { repository, change: action === 'deleted' ? 'deleted' : 'changed' },
}))

const RepositoryNames = Maybe(Type.Array(Type.Object({ id: Id, full_name: Text })))

const InstallationPayload = Type.Object({
  action: Text,
  installation: Installation,
  repositories: RepositoryNames,
  repositories_added: RepositoryNames,
  repositories_removed: RepositoryNames,
})

const CHANGES: Readonly<Record<string, InstallationEvent['change']>> = {
  created: 'created',
  deleted: 'removed',
  suspend: 'suspended',
  unsuspend: 'unsuspended',
}

/** Also reads `installation_repositories`, whose actions change the selection of repositories. */
export function installation(value: unknown): TranslatedDelivery {
  const payload = readAs(InstallationPayload, value)
  const event = {
    change: CHANGES[payload.action] ?? 'changed',
    installation: installationOf(payload.installation),
    added: namesOf(payload.repositories_added ?? (payload.action === 'created' ? payload.repositories : null)),
    removed: namesOf(payload.repositories_removed),
  }
  return { type: 'installation', event }
}

function namesOf(repositories: Static<typeof RepositoryNames> | undefined): { id: string; full_name: string }[] {
  return (repositories ?? []).map(({ id, full_name }) => ({ id: String(id), full_name }))
}
