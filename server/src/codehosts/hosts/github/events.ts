import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostWebhooks, InstallationEvent, TranslatedDelivery } from '../../code-host.ts'
import type { HostAlertType } from '../../host-alert.ts'
import type { HostPushedCommit } from '../../host-change.ts'
import type { HostEvent } from '../../host-event.ts'
import type { HostRepository } from '../../host-repository.ts'
import {
  Id,
  Maybe,
  parseDate,
  parseText,
  parseTime,
  readAs,
  Text,
  TextOrSeconds,
  Timestamp,
} from '../../kit/payload.ts'
import { PullRequest, parseSha, Review, toHostPullRequest, toHostReview } from './changes.ts'
import { CheckRun, toHostCheck } from './checks.ts'
import {
  DeployingRun,
  Deployment,
  DeploymentStatus,
  toHostDeployment,
  toHostDeploymentStatus,
  toRunAttempt,
} from './deployments.ts'
import { toHostJob, WorkflowJob } from './jobs.ts'
import {
  Account,
  Installation,
  isMergeQueue,
  Repository,
  toHostAccount,
  toHostInstallation,
  toHostRepository,
} from './repositories.ts'
import { toHostRun, Workflow, WorkflowRun } from './runs.ts'

/** Every event that we use, by the name in `X-GitHub-Event`. */
export function createParseDelivery(clock: Clock): HostWebhooks['translate'] {
  const parsers: Readonly<Record<string, EventParser>> = {
    workflow_run: parseWorkflowRunEvent,
    workflow_job: parseWorkflowJobEvent,
    check_run: parseCheckRunEvent,
    deployment: parseDeploymentEvent,
    deployment_status: parseDeploymentStatusEvent,
    deployment_protection_rule: createProtectionRuleParser(clock),
    deployment_review: parseDeploymentReviewEvent,
    code_scanning_alert: createAlertParser('code_scanning'),
    dependabot_alert: createAlertParser('dependabot'),
    secret_scanning_alert: createAlertParser('secret_scanning'),
    pull_request: parsePullRequestEvent,
    pull_request_review: parsePullRequestReviewEvent,
    push: parsePushEvent,
    repository: parseRepositoryEvent,
    installation: parseInstallationEvent,
    installation_repositories: parseInstallationEvent,
  }
  return (event, payload) =>
    Object.hasOwn(parsers, event) ? (parsers[event] as EventParser)(payload) : { type: 'unknown' }
}

/** Reads the payload of one event. Throws an `Error` that names the field if it does not fit. */
type EventParser = (payload: unknown) => TranslatedDelivery

/**
 * Translates payloads that have these fields and a repository. `toEvent` returns null for one that
 * tells nothing.
 */
function createEventParser<Fields extends TProperties>(
  fields: Fields,
  toEvent: (payload: Static<TObject<Fields>>, repository: HostRepository) => HostEvent | null,
): EventParser {
  const own = Type.Object(fields)
  const common = Type.Object({ repository: Repository })
  return (payload) => {
    const repository = toHostRepository(readAs(common, payload).repository)
    const event = toEvent(readAs(own, payload), repository)
    return event === null ? { type: 'unknown' } : { type: 'events', events: [event] }
  }
}

/** Older servers leave the actor out of the run. The sender of the event is the same account. */
const parseWorkflowRunEvent = createEventParser(
  { workflow_run: WorkflowRun, workflow: Maybe(Workflow), sender: Maybe(Account) },
  ({ workflow_run: run, workflow, sender }, repository) => ({
    kind: 'run',
    data: toHostRun({ ...run, actor: run.actor ?? sender ?? null }, repository, workflow),
  }),
)

const parseWorkflowJobEvent = createEventParser({ workflow_job: WorkflowJob }, ({ workflow_job: job }, repository) => ({
  kind: 'job',
  data: toHostJob(job, repository),
}))

export const parseDeploymentEvent = createEventParser(
  { deployment: Deployment, workflow_run: Maybe(DeployingRun) },
  ({ deployment, workflow_run: run }, repository) => ({
    kind: 'deployment',
    data: toHostDeployment(deployment, repository, toRunAttempt(run)),
  }),
)

/** The check run of a workflow's deployment is its job: both have the same id. */
const parseDeploymentStatusEvent = createEventParser(
  {
    deployment_status: DeploymentStatus,
    deployment: Deployment,
    workflow_run: Maybe(DeployingRun),
    check_run: Maybe(Type.Object({ id: Id })),
  },
  ({ deployment_status: status, deployment, workflow_run: run, check_run: check }, repository) => {
    const deployed = toHostDeployment(deployment, repository, toRunAttempt(run))
    const data = toHostDeploymentStatus(status, deployed, run && check ? String(check.id) : null)
    return data && { kind: 'deployment_status', data }
  },
)

const CALLBACK_RUN = /\/actions\/runs\/([1-9]\d{0,15})\/deployment_protection_rule$/

/** The payload has no time of its own: that of the deployment is used, else the current time. */
function createProtectionRuleParser(clock: Clock): EventParser {
  return createEventParser(
    {
      environment: Text,
      deployment_callback_url: Text,
      deployment: Maybe(Deployment),
      ref: Maybe(Text),
      sha: Maybe(Text),
    },
    ({ environment, deployment_callback_url: callbackUrl, deployment, ref, sha }, repository) => {
      const path = URL.canParse(callbackUrl) ? new URL(callbackUrl).pathname : ''
      const id = CALLBACK_RUN.exec(path)?.[1]
      const run = id === undefined ? null : { id, attempt: null }
      const data = {
        repository,
        environment,
        deployment: deployment ? toHostDeployment(deployment, repository, run) : null,
        run,
        ref: parseText(ref) ?? parseText(deployment?.ref),
        commit_sha: parseText(sha) ?? deployment?.sha ?? null,
        callback_url: callbackUrl,
        callback_secret: null,
        is_rule: true,
        requested_at: parseDate(deployment?.created_at) ?? clock.now(),
      }
      return { kind: 'gate_request', data }
    },
  )
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

/** A payload without a run cannot be assigned to a deployment. */
const parseDeploymentReviewEvent = createEventParser(REVIEW_FIELDS, (payload, repository) => {
  const { action, workflow_run: run, approver, comment } = payload
  if (!run || (action !== 'requested' && action !== 'approved' && action !== 'rejected')) return null
  const jobs = [payload.workflow_job_run, ...(payload.workflow_job_runs ?? [])]
  const names = [payload.environment, ...jobs.map((job) => job?.environment)]
  const environments = [...new Set(names.flatMap((name) => parseText(name) ?? []))]
  const data = {
    repository,
    run: { id: String(run.id), attempt: run.run_attempt || null },
    environments,
    state: action,
    reviewer: toHostAccount(approver),
    comment: parseText(comment),
    at: new Date(run.updated_at),
  } as const
  return { kind: 'deployment_review', data }
})

export const parsePullRequestEvent = createEventParser(
  { pull_request: PullRequest },
  ({ pull_request: pull }, repository) => ({
    kind: 'pull_request',
    data: toHostPullRequest(pull, repository),
  }),
)

const parsePullRequestReviewEvent = createEventParser(
  { review: Review, pull_request: Type.Object({ number: Id }) },
  ({ review, pull_request: pull }, repository) => {
    const data = toHostReview(review, repository, pull.number)
    return data && { kind: 'review', data }
  },
)

const parseCheckRunEvent = createEventParser({ check_run: CheckRun }, ({ check_run: check }, repository) => ({
  kind: 'check',
  data: toHostCheck(check, repository),
}))

const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text), username: Maybe(Text) })
const PushedCommit = Type.Object({ id: Text, message: Text, timestamp: Timestamp, author: Person, committer: Person })

export const parsePushEvent = createEventParser(
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
      before: parseSha(payload.before),
      after: parseSha(payload.after),
      forced: payload.forced ?? false,
      pusher: toHostAccount(payload.sender),
      by_merge_queue: isMergeQueue(payload.sender?.login) || isMergeQueue(payload.pusher?.name),
      commits: (payload.commits ?? []).map(parsePushedCommit),
      pushed_at: parseTime(payload.repository.pushed_at),
    }
    return { kind: 'push', data }
  },
)

function parsePushedCommit(commit: Static<typeof PushedCommit>): HostPushedCommit {
  return {
    sha: commit.id,
    message: parseText(commit.message) ?? '',
    author: parsePerson(commit.author),
    committer: parsePerson(commit.committer),
    at: new Date(commit.timestamp),
  }
}

function parsePerson({ name, email, username }: Static<typeof Person>): HostPushedCommit['author'] {
  return { name: parseText(name) ?? '', email: parseText(email), login: parseText(username) }
}

/** The payloads of alerts lack fields, so they only say which alert changed. */
function createAlertParser(type: HostAlertType): EventParser {
  return createEventParser({ alert: Type.Object({ number: Id }) }, ({ alert }, repository) => ({
    kind: 'alert_change',
    data: { type, number: alert.number, repository },
  }))
}

/** A deleted repository keeps its last facts. Every other action changes them. */
const parseRepositoryEvent = createEventParser({ action: Maybe(Text) }, ({ action }, repository) => ({
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
function parseInstallationEvent(value: unknown): TranslatedDelivery {
  const payload = readAs(InstallationPayload, value)
  const event = {
    change: CHANGES[payload.action] ?? 'changed',
    installation: toHostInstallation(payload.installation),
    added: parseRepositoryNames(
      payload.repositories_added ?? (payload.action === 'created' ? payload.repositories : null),
    ),
    removed: parseRepositoryNames(payload.repositories_removed),
  }
  return { type: 'installation', event }
}

function parseRepositoryNames(
  repositories: Static<typeof RepositoryNames> | undefined,
): { id: string; full_name: string }[] {
  return (repositories ?? []).map(({ id, full_name }) => ({ id: String(id), full_name }))
}
