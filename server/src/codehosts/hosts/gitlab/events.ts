import { type Static, Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { HostWebhooks } from '../../code-host.ts'
import type { ObjectChange } from '../../host-event.ts'
import type { HostAccount } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { parseAlertType } from './alert-parsers.ts'
import { parseSha } from './changes.ts'
import { toHostAccount } from './client.ts'
import { formatDeploymentId } from './deployments.ts'
import { isOpen, parseStatus } from './jobs.ts'
import { isExternal } from './runs.ts'

type ParseEvent = (payload: unknown) => ObjectChange[]

/** Every event that we use, by `object_kind`; events of projects by `event_name`. */
export function createParseDelivery(clock: Clock): HostWebhooks['translate'] {
  const parsers: Readonly<Record<string, ParseEvent>> = {
    pipeline: parsePipelineEvent,
    build: parseBuildEvent,
    deployment: parseDeploymentEvent,
    merge_request: parseMergeRequestEvent,
    note: parseNoteEvent,
    push: createPushParser(clock),
    vulnerability: parseVulnerabilityEvent,
    project_create: createProjectParser('changed'),
    project_update: createProjectParser('changed'),
    project_rename: createProjectParser('changed'),
    project_transfer: createProjectParser('changed'),
    project_destroy: createProjectParser('deleted'),
  }
  return (event, payload) => {
    if (!Object.hasOwn(parsers, event)) return { type: 'unknown' }
    const changes = (parsers[event] as ParseEvent)(payload)
    return changes.length === 0 ? { type: 'unknown' } : { type: 'changes', changes }
  }
}

const Project = Type.Object({ id: Id })

const Pipeline = Type.Object({
  project: Project,
  object_attributes: Type.Object({ id: Id, sha: Text, source: Maybe(Text), status: Maybe(Text) }),
})

/**
 * The checks of a commit are read when its pipeline has ended, and so is the project: GitLab sends
 * no event when a project is renamed or moved.
 */
function parsePipelineEvent(payload: unknown): ObjectChange[] {
  const { project, object_attributes: found } = readAs(Pipeline, payload)
  const repository_id = String(project.id)
  const checks = { repository_id, type: 'checks', commit_sha: found.sha } as const
  if (isExternal(found.source)) return [checks]
  const run = { repository_id, type: 'run', id: String(found.id) } as const
  return found.status && isOpen(parseStatus(found.status)) ? [run] : [createProjectChange(repository_id), run, checks]
}

function createProjectChange(repository_id: string): ObjectChange {
  return { repository_id, type: 'repository', change: 'changed' }
}

const Build = Type.Object({
  project_id: Id,
  pipeline_id: Id,
  build_id: Id,
  build_status: Maybe(Text),
  environment: Maybe(Type.Object({ name: Maybe(Text) })),
})

/** GitLab sends no event of a deployment before it starts, when its job is manual or may start. */
const BEFORE_START = ['manual', 'pending']

export function parseBuildEvent(payload: unknown): ObjectChange[] {
  const { project_id, pipeline_id, build_id, build_status, environment } = readAs(Build, payload)
  const repository_id = String(project_id)
  const run = { repository_id, type: 'run', id: String(pipeline_id) } as const
  if (!BEFORE_START.includes(build_status ?? '') || !environment?.name) return [run]
  return [run, { repository_id, type: 'deployment', id: formatDeploymentId(build_id, environment.name) }]
}

const Deployment = Type.Object({ project: Project, deployment_id: Id })

export function parseDeploymentEvent(payload: unknown): ObjectChange[] {
  const { project, deployment_id } = readAs(Deployment, payload)
  return [{ repository_id: String(project.id), type: 'deployment', id: String(deployment_id) }]
}

const MergeRequest = Type.Object({
  project: Project,
  object_attributes: Type.Object({ iid: Id, target_project_id: Maybe(Id) }),
})

function parseMergeRequestEvent(payload: unknown): ObjectChange[] {
  const { project, object_attributes: found } = readAs(MergeRequest, payload)
  return [{ repository_id: String(found.target_project_id ?? project.id), type: 'pull_request', number: found.iid }]
}

const Note = Type.Object({ project: Project, merge_request: Maybe(Type.Object({ iid: Id })) })

/** Comments on merge requests are reviews. */
function parseNoteEvent(payload: unknown): ObjectChange[] {
  const { project, merge_request: request } = readAs(Note, payload)
  return request ? [{ repository_id: String(project.id), type: 'pull_request', number: request.iid }] : []
}

const Vulnerability = Type.Object({
  object_attributes: Type.Object({ id: Maybe(Id), url: Maybe(Text), project_id: Id, report_type: Text }),
})

/** Older servers name the vulnerability only by the address of its page. */
function parseVulnerabilityEvent(payload: unknown): ObjectChange[] {
  const { id, url, project_id, report_type } = readAs(Vulnerability, payload).object_attributes
  const type = parseAlertType(report_type)
  const number = id ?? Number(/\/vulnerabilities\/([1-9]\d{0,15})$/.exec(url ?? '')?.[1])
  if (type === null || !Number.isSafeInteger(number)) return []
  return [{ repository_id: String(project_id), type: 'alert', alert: { type, number } }]
}

const ProjectEvent = Type.Object({ project_id: Id })

function createProjectParser(change: 'changed' | 'deleted'): (payload: unknown) => ObjectChange[] {
  return (payload) => [{ repository_id: String(readAs(ProjectEvent, payload).project_id), type: 'repository', change }]
}

const Push = Type.Object({
  project_id: Id,
  ref: Text,
  before: Maybe(Text),
  after: Maybe(Text),
  user_id: Maybe(Id),
  user_username: Maybe(Text),
  user_name: Maybe(Text),
  user_avatar: Maybe(Text),
})

/** GitLab states neither when the commits were pushed nor whether the push was forced. */
function createPushParser(clock: Clock): (payload: unknown) => ObjectChange[] {
  return (payload) => {
    const { project_id, ref, before, after, ...user } = readAs(Push, payload)
    const pushed = {
      ref,
      before: parseSha(before),
      after: parseSha(after),
      forced: null,
      pusher: parsePusher(user),
      by_merge_queue: false,
      pushed_at: clock.now(),
    }
    const repository_id = String(project_id)
    return [createProjectChange(repository_id), { repository_id, type: 'push', push: pushed }]
  }
}

type User = Pick<Static<typeof Push>, 'user_id' | 'user_username' | 'user_name' | 'user_avatar'>

function parsePusher({ user_id: id, user_username: username, user_name, user_avatar }: User): HostAccount | null {
  if (!id || !username) return null
  return toHostAccount({ id, username, name: user_name ?? null, avatar_url: user_avatar ?? null })
}
