import { type Static, type TSchema, Type } from 'typebox'
import type { HostWebhooks, TranslatedDelivery } from '../../code-host.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import type { ObjectChange } from '../../object-change.ts'
import { alertTypeOf } from './alerts.ts'
import { deploymentIdOf } from './objects/deployment-id.ts'
import { Guid } from './objects/fields.ts'
import { Push, refPushesOf } from './objects/push.parser.ts'
import { runIdOf } from './objects/run-id.ts'
import { translateCheck } from './events/check-event.ts'
import { CHECK_EVENT } from './events/check-request.ts'
import { repositoryOfRun, repositoryOfUrl } from './events/repository-alias.ts'

/** Every event that we use. `hooks/subscriptions.ts` subscribes to them. */
const TRANSLATORS: Readonly<Record<string, (payload: unknown) => ObjectChange[]>> = {
  'git.push': reading(Type.Object({ resource: Type.Object({ ...Push.properties, repository: withId() }) }), pushed),
  'git.pullrequest.created': reading(pullRequestEvent(), pullRequestChanged),
  'git.pullrequest.updated': reading(pullRequestEvent(), pullRequestChanged),
  'build.complete': reading(Type.Object({ resource: Type.Object({ id: Id }), ...inProject() }), buildCompleted),
  'ms.vss-pipelines.run-state-changed-event': reading(runEvent(), runChanged),
  'ms.vss-pipelines.job-state-changed-event': reading(runEvent(), runChanged),
  'ms.vss-pipelines.stage-state-changed-event': reading(runEvent(), stageChanged),
  'ms.vss-pipelinechecks-events.approval-pending': reading(approvalEvent(), approvalChanged),
  'ms.vss-pipelinechecks-events.approval-completed': reading(approvalEvent(), approvalChanged),
  'ms.vss-alerts.alert-created-event': reading(alertEvent(), alertChanged),
  'ms.vss-alerts.alert-state-changed-event': reading(alertEvent(), alertChanged),
  'ms.vss-alerts.alert-updated-event': reading(alertEvent(), alertChanged),
  [CHECK_EVENT]: translateCheck,
}

export const translate: HostWebhooks['translate'] = (event, payload): TranslatedDelivery => {
  if (!Object.hasOwn(TRANSLATORS, event)) return { type: 'unknown' }
  const changes = TRANSLATORS[event]?.(payload) ?? []
  return changes.length === 0 ? { type: 'unknown' } : { type: 'changes', changes }
}

/** Throws an `Error` that names the field if the payload does not fit. */
function reading<Schema extends TSchema>(schema: Schema, toChanges: (payload: Static<Schema>) => ObjectChange[]) {
  return (payload: unknown) => toChanges(readAs(schema, payload))
}

function withId() {
  return Type.Object({ id: Guid })
}

/** The pipelines of a project are also those of repositories of other hosts. */
function inProject() {
  return { resourceContainers: Type.Object({ project: withId() }) }
}

function pushed({ resource }: { resource: Static<typeof Push> & { repository: { id: string } } }): ObjectChange[] {
  const repository_id = resource.repository.id.toLowerCase()
  return refPushesOf(resource).map((push) => ({ repository_id, type: 'push', push }))
}

function pullRequestEvent() {
  return Type.Object({ resource: Type.Object({ pullRequestId: Id, repository: withId() }) })
}

function pullRequestChanged({ resource }: Static<ReturnType<typeof pullRequestEvent>>): ObjectChange[] {
  const { pullRequestId: number, repository } = resource
  return [{ repository_id: repository.id.toLowerCase(), type: 'pull_request', number }]
}

type BuildEvent = { resource: { id: number }; resourceContainers: { project: { id: string } } }

function buildCompleted({ resource, resourceContainers: { project } }: BuildEvent): ObjectChange[] {
  return [runChange({ project: project.id, build: resource.id })]
}

function runEvent() {
  const stage = Type.Object({ name: Maybe(Text), attempt: Maybe(Id) })
  const resource = Type.Object({ run: Type.Object({ id: Id }), stage: Maybe(stage) })
  return Type.Object({ resource, ...inProject() })
}
type RunEvent = Static<ReturnType<typeof runEvent>>

function runChanged({ resource, resourceContainers: { project } }: RunEvent): ObjectChange[] {
  return [runChange({ project: project.id, build: resource.run.id })]
}

/** A stage can deploy. The event does not say to which environment. */
function stageChanged(event: RunEvent): ObjectChange[] {
  const build = { project: event.resourceContainers.project.id, build: event.resource.run.id }
  const name = textOrNull(event.resource.stage?.name)
  const stage = name === null ? [] : [deploymentChange({ ...build, environment: { stage: name } }, null)]
  return [runChange(build), ...stage]
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
function approvalChanged({ resource, resourceContainers }: Static<ReturnType<typeof approvalEvent>>): ObjectChange[] {
  const { run, resource: held, stageName, attemptId } = resource
  if (!run) return []
  const build = { project: resourceContainers.project.id, build: run.id }
  const environment = held?.type === 'environment' ? Number(held.id) : Number.NaN
  if (Number.isSafeInteger(environment) && environment > 0)
    return [deploymentChange({ ...build, environment }, attemptId || 1)]
  const stage = textOrNull(stageName)
  return stage === null
    ? [runChange(build)]
    : [deploymentChange({ ...build, environment: { stage } }, attemptId || null)]
}

type BuildOf = { project: string; build: number }

function runChange(build: BuildOf): ObjectChange {
  return { repository_id: repositoryOfRun(build), type: 'run', id: runIdOf(build) }
}

function deploymentChange(
  { environment, ...build }: BuildOf & { environment: number | { stage: string } },
  attempt: number | null,
): ObjectChange {
  const id = deploymentIdOf({ ...build, environment, attempt })
  return { repository_id: repositoryOfRun(build), type: 'deployment', id }
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

function alertChanged({
  resource,
  resourceContainers: { project },
}: Static<ReturnType<typeof alertEvent>>): ObjectChange[] {
  const { alertId: number, alertType, repositoryId, repositoryUrl } = resource
  const type = alertTypeOf(alertType)
  const repository_id = repositoryId?.toLowerCase() ?? repositoryOfUrl(project.id, repositoryUrl ?? '')
  return type === null || repository_id === null ? [] : [{ repository_id, type: 'alert', alert: { type, number } }]
}
