import { createHmac, randomUUID } from 'node:crypto'
import type { Change } from '../hosts/change.ts'
import type { Job, Run } from '../hosts/types.ts'
import type { HookDelivery } from '../hosts/webhooks.ts'
import { fullName } from '../hosts/world.ts'
import { type Gitlab, iso } from './gitlab.ts'
import { userShape } from './shapes/accounts.ts'
import { deploymentStatus } from './shapes/deployments.ts'
import { mergeRequestEntry } from './shapes/merge-requests.ts'
import { failureOf, jobStatus, pipelineShape } from './shapes/pipelines.ts'
import { hookProject } from './shapes/projects.ts'
import { vulnerabilityAttributes } from './shapes/vulnerabilities.ts'

/** What a change is in GitLab's words: the setting of webhooks that asks for it, and the payload. */
type HookEvent = { setting: string; payload: object }

const HEADERS: Readonly<Record<string, string>> = {
  push_events: 'Push Hook',
  tag_push_events: 'Tag Push Hook',
  merge_requests_events: 'Merge Request Hook',
  note_events: 'Note Hook',
  pipeline_events: 'Pipeline Hook',
  job_events: 'Job Hook',
  deployment_events: 'Deployment Hook',
  vulnerability_events: 'Vulnerability Hook',
  project_events: 'Project Hook',
  resource_access_token_events: 'Resource Access Token Hook',
}

/**
 * Sends the webhooks of each change to the group and to the project:
 * https://docs.gitlab.com/user/project/integrations/webhook_events/, with a heading for each kind.
 */
export function sendEvents(gitlab: Gitlab): void {
  gitlab.world.onChange((change) => {
    const { repository } = change
    const scopes = [`group ${repository.owner.id}`, `project ${repository.id}`]
    for (const { setting, payload } of eventsOf(gitlab, change)) gitlab.webhooks.emit(setting, scopes, payload)
  })
}

function eventsOf(gitlab: Gitlab, change: Change): HookEvent[] {
  switch (change.type) {
    case 'push':
      return [pushEvent(gitlab, change)]
    case 'pull_request':
    case 'review':
      return mergeRequestEvents(gitlab, change)
    case 'run':
      return [pipelineEvent(gitlab, change.run)]
    case 'job':
      return [jobEvent(gitlab, change.run, change.job)]
    case 'deployment':
      return TOLD.has(change.status.state) ? [deploymentEvent(gitlab, change)] : []
    case 'alert':
      return [vulnerabilityEvent(gitlab, change)]
    case 'commit_status':
      return [statusEvent(gitlab, change)]
    case 'repository':
      return projectEvents(gitlab, change)
    default:
      return []
  }
}

/**
 * "Deployment events" (same page): when a deployment starts, succeeds, fails or is canceled, and not
 * when it waits or may start. The event of its job tells that.
 */
const TOLD = new Set(['in_progress', 'success', 'failure', 'cancelled'])

type Of<Type extends Change['type']> = Extract<Change, { type: Type }>

function pushEvent(gitlab: Gitlab, { push, repository }: Of<'push'>): HookEvent {
  const { ref, before, after, pusher, commits } = push
  const isTag = ref.startsWith('refs/tags/')
  const kind = isTag ? 'tag_push' : 'push'
  const payload = {
    object_kind: kind,
    event_name: kind,
    before: before ?? '0'.repeat(40),
    after: after ?? '0'.repeat(40),
    ref,
    checkout_sha: after,
    user_id: pusher.id,
    user_name: pusher.name ?? pusher.login,
    user_username: pusher.login,
    user_email: null,
    user_avatar: null,
    project_id: repository.id,
    project: hookProject(gitlab, repository),
    commits: commits.slice(-20).map(({ sha, message, at }) => ({ id: sha, message, timestamp: iso(at) })),
    total_commits_count: commits.length,
  }
  return { setting: `${kind}_events`, payload }
}

const ACTIONS = {
  opened: 'open',
  pushed: 'update',
  edited: 'update',
  closed: 'close',
  reopened: 'reopen',
  merged: 'merge',
} as const

function mergeRequestEvents(gitlab: Gitlab, change: Of<'pull_request'> | Of<'review'>): HookEvent[] {
  const { repository, pullRequest, by } = change
  const { author: _, merge_user: __, merged_by: ___, ...attributes } = mergeRequestEntry(gitlab, pullRequest)
  const shared = { user: userShape(gitlab, by), project: hookProject(gitlab, repository) }
  if (change.type === 'review' && change.review.state === 'commented') {
    const { id, body } = change.review
    const note = { id, note: body, noteable_type: 'MergeRequest', action: 'create' }
    const payload = { object_kind: 'note', event_type: 'note', ...shared, object_attributes: note }
    return [{ setting: 'note_events', payload: { ...payload, project_id: repository.id, merge_request: attributes } }]
  }
  const action = change.type === 'pull_request' ? ACTIONS[change.action] : reviewAction(change)
  const object_attributes = { ...attributes, author_id: pullRequest.author.id, action }
  const payload = { object_kind: 'merge_request', event_type: 'merge_request', ...shared, object_attributes }
  return [{ setting: 'merge_requests_events', payload }]
}

function reviewAction({ action, review }: Of<'review'>): string {
  if (action === 'dismissed') return 'unapproved'
  return review.state === 'approved' ? 'approved' : 'update'
}

function pipelineEvent(gitlab: Gitlab, run: Run): HookEvent {
  const { id, iid, name, ref, tag, sha, source, status, created_at, finished_at } = pipelineShape(gitlab, run)
  const payload = {
    object_kind: 'pipeline',
    object_attributes: {
      ...{ id, iid, name, ref, tag, sha, source, status, detailed_status: status, created_at, finished_at },
      variables: [{ key: 'DEPLOY_TOKEN', value: 'never-store-this' }],
    },
    user: userShape(gitlab, run.actor),
    project: hookProject(gitlab, run.repository),
    builds: [],
  }
  return { setting: 'pipeline_events', payload }
}

function jobEvent(gitlab: Gitlab, run: Run, job: Job): HookEvent {
  const { repository } = run
  const payload = {
    object_kind: 'build',
    ref: run.branch,
    tag: false,
    sha: run.sha,
    build_id: job.id,
    build_name: job.name,
    build_stage: `stage-${job.stage}`,
    build_status: jobStatus(job),
    build_created_at: iso(job.created_at),
    build_started_at: iso(job.started_at),
    build_finished_at: iso(job.completed_at),
    build_failure_reason: failureOf(run, job).failure_reason ?? 'unknown_failure',
    pipeline_id: run.id,
    project_id: repository.id,
    project_name: fullName(repository),
    user: userShape(gitlab, run.actor),
    project: hookProject(gitlab, repository),
    environment: job.environment === null ? null : { name: job.environment, action: 'start', deployment_tier: null },
  }
  return { setting: 'job_events', payload }
}

function deploymentEvent(gitlab: Gitlab, { repository, deployment }: Of<'deployment'>): HookEvent {
  const { id, job, environment, sha, ref, creator } = deployment
  const payload = {
    object_kind: 'deployment',
    status: deploymentStatus(gitlab, deployment),
    status_changed_at: iso(deployment.updated_at),
    deployment_id: id,
    deployable_id: job?.id,
    deployable_url: `${gitlab.url}/${fullName(repository)}/-/jobs/${job?.id}`,
    environment: environment.name,
    project: hookProject(gitlab, repository),
    short_sha: sha.slice(0, 8),
    user: userShape(gitlab, creator),
    commit_url: `${gitlab.url}/${fullName(repository)}/-/commit/${sha}`,
    ref,
  }
  return { setting: 'deployment_events', payload }
}

function vulnerabilityEvent(gitlab: Gitlab, { alert }: Of<'alert'>): HookEvent {
  const object_attributes = vulnerabilityAttributes(gitlab, alert)
  return { setting: 'vulnerability_events', payload: { object_kind: 'vulnerability', object_attributes } }
}

/** A status that another service reports is in a pipeline of its own. */
function statusEvent(gitlab: Gitlab, { repository, status }: Of<'commit_status'>): HookEvent {
  const object_attributes = { id: status.id, sha: status.sha, source: 'external', status: 'success', variables: [] }
  const project = hookProject(gitlab, repository)
  return { setting: 'pipeline_events', payload: { object_kind: 'pipeline', object_attributes, project, builds: [] } }
}

/** "Project events" (same page): of groups only, and of projects that are created or deleted. */
function projectEvents(_gitlab: Gitlab, { repository, action }: Of<'repository'>): HookEvent[] {
  const names = { created: 'project_create', deleted: 'project_destroy' } as const
  if (!(action in names)) return []
  const payload = {
    event_name: names[action as keyof typeof names],
    project_id: repository.id,
    name: repository.name,
    path_with_namespace: fullName(repository),
    project_visibility: repository.private ? 'private' : 'public',
    created_at: iso(repository.created_at),
    updated_at: iso(repository.updated_at),
  }
  return [{ setting: 'project_events', payload }]
}

/**
 * The headers of a delivery: https://docs.gitlab.com/user/project/integrations/webhooks/, "Delivery
 * headers". With the token, or signed as Standard Webhooks describes it (GitLab 19.0 and later).
 */
export function signDelivery(url: () => string): (delivery: HookDelivery, body: string) => Record<string, string> {
  return ({ guid, hook, event }, body) => {
    const headers = {
      'user-agent': 'GitLab/19.0.0',
      'idempotency-key': guid,
      'x-gitlab-event': HEADERS[event] as string,
      'x-gitlab-webhook-uuid': randomUUID(),
      'x-gitlab-event-uuid': randomUUID(),
      'x-gitlab-instance': url(),
      ...(hook.secret !== '' && { 'x-gitlab-token': hook.secret }),
    }
    const token = hook.settings.signing_token as string | undefined
    return token === undefined ? headers : { ...headers, ...signatureOf(guid, token, body) }
  }
}

function signatureOf(id: string, token: string, body: string): Record<string, string> {
  const time = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(token.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` }
}
