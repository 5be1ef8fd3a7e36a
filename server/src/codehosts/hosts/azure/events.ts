import { type Static, type TSchema, Type } from 'typebox'
import type { HostWebhooks, TranslatedDelivery } from '../../code-host.ts'
import type { ObjectChange } from '../../host-event.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { formatCheckAddress } from './actions.ts'
import { parseAlertType } from './alerts.ts'
import { Guid, Time } from './client.ts'
import { Push, parseRefPushes } from './commits.ts'
import { formatDeploymentId } from './environments.ts'
import { formatRunId } from './jobs.ts'
import { formatRunAlias, formatUrlAlias } from './repositories.ts'
import { CHECK_EVENT } from './webhook.ts'

/** Every event that we use. `webhook-setup.ts` subscribes to them. */
const PARSERS: Readonly<Record<string, (payload: unknown) => ObjectChange[]>> = {
  'git.push': reading(
    Type.Object({ resource: Type.Object({ ...Push.properties, repository: identified() }) }),
    parsePushEvent,
  ),
  'git.repo.created': reading(repositoryEvent(), createRepositoryParser('changed')),
  'git.repo.renamed': reading(repositoryEvent(), createRepositoryParser('changed')),
  'git.repo.statuschanged': reading(repositoryEvent(), createRepositoryParser('changed')),
  'git.repo.deleted': reading(repositoryEvent(), createRepositoryParser('deleted')),
  'git.pullrequest.created': reading(pullRequestEvent(), parsePullRequestEvent),
  'git.pullrequest.updated': reading(pullRequestEvent(), parsePullRequestEvent),
  'build.complete': reading(Type.Object({ resource: Type.Object({ id: Id }), ...inProject() }), parseBuildEvent),
  'ms.vss-pipelines.run-state-changed-event': reading(runEvent(), parseRunEvent),
  'ms.vss-pipelines.job-state-changed-event': reading(runEvent(), parseRunEvent),
  'ms.vss-pipelines.stage-state-changed-event': reading(runEvent(), parseStageEvent),
  'ms.vss-pipelinechecks-events.approval-pending': reading(approvalEvent(), parseApprovalEvent),
  'ms.vss-pipelinechecks-events.approval-completed': reading(approvalEvent(), parseApprovalEvent),
  'ms.vss-alerts.alert-created-event': reading(alertEvent(), parseAlertEvent),
  'ms.vss-alerts.alert-state-changed-event': reading(alertEvent(), parseAlertEvent),
  'ms.vss-alerts.alert-updated-event': reading(alertEvent(), parseAlertEvent),
  [CHECK_EVENT]: parseCheckEvent,
}

export const parseDelivery: HostWebhooks['translate'] = (event, payload): TranslatedDelivery => {
  if (!Object.hasOwn(PARSERS, event)) return { type: 'unknown' }
  const changes = PARSERS[event]?.(payload) ?? []
  return changes.length === 0 ? { type: 'unknown' } : { type: 'changes', changes }
}

/** Throws an `Error` that names the field if the payload does not fit. */
function reading<Schema extends TSchema>(schema: Schema, toChanges: (payload: Static<Schema>) => ObjectChange[]) {
  return (payload: unknown) => toChanges(readAs(schema, payload))
}

function identified() {
  return Type.Object({ id: Guid })
}

/** The pipelines of a project are also those of repositories of other hosts. */
function inProject() {
  return { resourceContainers: Type.Object({ project: identified() }) }
}

function parsePushEvent({
  resource,
}: {
  resource: Static<typeof Push> & { repository: { id: string } }
}): ObjectChange[] {
  const repository_id = resource.repository.id.toLowerCase()
  return parseRefPushes(resource).map((push) => ({ repository_id, type: 'push', push }))
}

/** That of a deletion has the id alone. */
function repositoryEvent() {
  return Type.Object({ resource: Type.Object({ repository: Maybe(identified()), repositoryId: Maybe(Guid) }) })
}

function createRepositoryParser(change: 'changed' | 'deleted') {
  return ({ resource }: Static<ReturnType<typeof repositoryEvent>>): ObjectChange[] => {
    const id = resource.repository?.id ?? resource.repositoryId
    return id ? [{ repository_id: id.toLowerCase(), type: 'repository', change }] : []
  }
}

function pullRequestEvent() {
  return Type.Object({ resource: Type.Object({ pullRequestId: Id, repository: identified() }) })
}

function parsePullRequestEvent({ resource }: Static<ReturnType<typeof pullRequestEvent>>): ObjectChange[] {
  const { pullRequestId: number, repository } = resource
  return [{ repository_id: repository.id.toLowerCase(), type: 'pull_request', number }]
}

type BuildEvent = { resource: { id: number }; resourceContainers: { project: { id: string } } }

function parseBuildEvent({ resource, resourceContainers: { project } }: BuildEvent): ObjectChange[] {
  return [createRunChange({ project: project.id, build: resource.id })]
}

function runEvent() {
  const stage = Type.Object({ name: Maybe(Text), attempt: Maybe(Id) })
  const resource = Type.Object({ run: Type.Object({ id: Id }), stage: Maybe(stage) })
  return Type.Object({ resource, ...inProject() })
}
type RunEvent = Static<ReturnType<typeof runEvent>>

function parseRunEvent({ resource, resourceContainers: { project } }: RunEvent): ObjectChange[] {
  return [createRunChange({ project: project.id, build: resource.run.id })]
}

/** A stage can deploy. The event does not say to which environment. */
function parseStageEvent(event: RunEvent): ObjectChange[] {
  const build = { project: event.resourceContainers.project.id, build: event.resource.run.id }
  const name = parseText(event.resource.stage?.name)
  const stage = name === null ? [] : [createDeploymentChange({ ...build, environment: { stage: name } }, null)]
  return [createRunChange(build), ...stage]
}

function approvalEvent() {
  const environment = Type.Object({ type: Maybe(Text), id: Maybe(Type.Union([Text, Id])) })
  const resource = Type.Object({
    run: Maybe(Type.Object({ id: Id })),
    resource: Maybe(environment),
    stageName: Maybe(Text),
    attemptId: Maybe(Id),
  })
  return Type.Object({ resource, ...inProject() })
}

/**
 * Approvals of other resources than environments, such as service connections, change the stage
 * only.
 */
function parseApprovalEvent({
  resource,
  resourceContainers,
}: Static<ReturnType<typeof approvalEvent>>): ObjectChange[] {
  const { run, resource: held, stageName, attemptId } = resource
  if (!run) return []
  const build = { project: resourceContainers.project.id, build: run.id }
  const environment = held?.type === 'environment' ? Number(held.id) : Number.NaN
  if (Number.isSafeInteger(environment) && environment > 0)
    return [createDeploymentChange({ ...build, environment }, attemptId || 1)]
  const stage = parseText(stageName)
  return stage === null
    ? [createRunChange(build)]
    : [createDeploymentChange({ ...build, environment: { stage } }, attemptId || null)]
}

type BuildOf = { project: string; build: number }

function createRunChange(build: BuildOf): ObjectChange {
  return { repository_id: formatRunAlias(build), type: 'run', id: formatRunId(build) }
}

function createDeploymentChange(
  { environment, ...build }: BuildOf & { environment: number | { stage: string } },
  attempt: number | null,
): ObjectChange {
  const id = formatDeploymentId({ ...build, environment, attempt })
  return { repository_id: formatRunAlias(build), type: 'deployment', id }
}

function alertEvent() {
  const resource = Type.Object({
    alertId: Id,
    alertType: Text,
    repositoryId: Maybe(Guid),
    repositoryUrl: Maybe(Text),
  })
  return Type.Object({ resource, ...inProject() })
}

function parseAlertEvent({
  resource,
  resourceContainers: { project },
}: Static<ReturnType<typeof alertEvent>>): ObjectChange[] {
  const { alertId: number, alertType, repositoryId, repositoryUrl } = resource
  const type = parseAlertType(alertType)
  const repository_id = repositoryId?.toLowerCase() ?? formatUrlAlias(project.id, repositoryUrl ?? '')
  return type === null || repository_id === null ? [] : [{ repository_id, type: 'alert', alert: { type, number } }]
}

const Digits = Type.String({ pattern: '^[1-9]\\d{0,9}$' })

const Check = Type.Object({
  ProjectId: Guid,
  HubName: Type.String({ pattern: '^[A-Za-z]{1,30}$' }),
  PlanId: Guid,
  JobId: Guid,
  TimelineId: Guid,
  TaskInstanceId: Guid,
  BuildId: Digits,
  Environment: Type.String({ minLength: 1, maxLength: 128 }),
  RepositoryId: Maybe(Guid),
  SourceBranch: Maybe(Text),
  SourceVersion: Maybe(Type.String({ pattern: '^[0-9a-f]{40}$' })),
  StageAttempt: Maybe(Digits),
  Token: Text,
  RequestedAt: Time,
})

/** The check of an environment asks whether a stage may go on. The deployment is read too. */
function parseCheckEvent(payload: unknown): ObjectChange[] {
  const check = readAs(Check, payload)
  const build = { project: check.ProjectId.toLowerCase(), build: Number(check.BuildId) }
  const attempt = Number(check.StageAttempt ?? 1)
  const repository_id = check.RepositoryId?.toLowerCase() ?? formatRunAlias(build)
  const environment = { name: check.Environment }
  const task = {
    project: build.project,
    hub: check.HubName.toLowerCase(),
    plan: check.PlanId.toLowerCase(),
    job: check.JobId.toLowerCase(),
    timeline: check.TimelineId.toLowerCase(),
    task: check.TaskInstanceId.toLowerCase(),
  }
  return [
    {
      repository_id,
      type: 'gate_request',
      request: {
        environment: check.Environment,
        run: { id: formatRunId(build), attempt },
        ref: parseText(check.SourceBranch),
        commit_sha: check.SourceVersion ?? null,
        callback_url: formatCheckAddress(task),
        callback_secret: check.Token,
        is_rule: true,
        requested_at: new Date(check.RequestedAt),
      },
    },
    { repository_id, type: 'deployment', id: formatDeploymentId({ ...build, environment, attempt }) },
  ]
}
