import { randomBytes } from 'node:crypto'
import type { Change } from '../hosts/change.ts'
import { refOf } from '../hosts/history.ts'
import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { Push, Repository, Run } from '../hosts/types.ts'
import type { Webhooks } from '../hosts/webhooks.ts'
import type { Json } from '../json.ts'
import { pipelineStatusJson, statusJson } from './build-statuses.ts'
import { wholePullRequestJson } from './pull-request-shapes.ts'
import { accountJson, braced, commitJson, repositoryJson, timestamp } from './shapes.ts'

export const SPAN_EVENT = 'pipeline:span_created'

/**
 * Sends what Bitbucket sends when this has changed: nothing for deployments and alerts. The events
 * are those of https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/.
 */
export function sendEvents(hooks: Webhooks, change: Change): void {
  const { repository, by } = change
  const scopes = [`workspace ${repository.owner.uuid}`, `repository ${repository.uuid}`]
  const send = (event: string, payload: Json) =>
    hooks.emit(event, scopes, { actor: accountJson(by), repository: repositoryJson(repository), ...payload })
  switch (change.type) {
    case 'repository':
      if (change.action === 'deleted') send('repo:deleted', {})
      else if (change.action !== 'created') send('repo:updated', { changes: {} })
      break
    case 'push':
      send('repo:push', { push: { changes: [pushJson(repository, change.push)] } })
      break
    case 'pull_request':
      send(PULL_REQUEST_EVENTS[change.action], { pullrequest: wholePullRequestJson(change.pullRequest) })
      break
    case 'review': {
      const { review, pullRequest, action } = change
      const event = action === 'dismissed' ? 'pullrequest:unapproved' : REVIEW_EVENTS[review.state]
      const approval = { date: timestamp(review.submitted_at), user: accountJson(review.user) }
      if (event !== undefined) send(event, { pullrequest: wholePullRequestJson(pullRequest), approval })
      break
    }
    case 'run':
      sendRun(hooks, change, send)
      break
    case 'job':
      if (change.job.status === 'completed') sendSpan(hooks, change.run, 'bbc.pipeline_step')
      break
    case 'commit_status': {
      const { status } = change
      const isNew = status.created_at.getTime() === status.updated_at.getTime()
      const event = `repo:commit_status_${isNew ? 'created' : 'updated'}`
      send(event, { commit_status: statusJson(repository, status) })
      break
    }
  }
}

const PULL_REQUEST_EVENTS = {
  opened: 'pullrequest:created',
  pushed: 'pullrequest:updated',
  edited: 'pullrequest:updated',
  closed: 'pullrequest:rejected',
  reopened: 'pullrequest:updated',
  merged: 'pullrequest:fulfilled',
} as const

const REVIEW_EVENTS: Readonly<Record<string, string>> = {
  approved: 'pullrequest:approved',
  changes_requested: 'pullrequest:changes_request_created',
  commented: 'pullrequest:comment_created',
}

/** A build status when an attempt begins and when it ends, and a trace of what has ended. */
function sendRun(
  hooks: Webhooks,
  { run, action }: Extract<Change, { type: 'run' }>,
  send: (event: string, payload: Json) => void,
): void {
  if (action === 'changed') return
  const isNew = action === 'created' && lastAttempt(run).number === 1
  send(`repo:commit_status_${isNew ? 'created' : 'updated'}`, { commit_status: pipelineStatusJson(run) })
  if (action === 'completed') sendSpan(hooks, run, 'bbc.pipeline_run')
}

/** Traces have neither an actor nor a repository beside them. */
function sendSpan(hooks: Webhooks, run: Run, name: string): void {
  const { repository } = run
  const attributes = {
    'pipeline.uuid': braced(run.uuid),
    'pipeline.repository.uuid': braced(repository.uuid),
    'pipeline.account.uuid': braced(repository.owner.uuid),
    'pipeline.build_number': String(run.index),
    'pipeline_run.run_number': String(lastAttempt(run).number),
  }
  const listed = Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))
  // Each span has an id (OpenTelemetry, "Trace": "SpanId … is a randomly generated 8-byte array").
  const spanId = randomBytes(8).toString('hex')
  const payload = { resourceSpans: [{ scopeSpans: [{ spans: [{ spanId, name, attributes: listed }] }] }] }
  hooks.emit(SPAN_EVENT, [`repository ${repository.uuid}`], payload)
}

function pushJson(repository: Repository, push: Push): Json {
  const isTag = refOf(push.ref).startsWith('refs/tags/')
  const end = (sha: string | null): Json => {
    const commit = sha === null ? undefined : repository.commits.get(sha)
    if (commit === undefined) return null
    const name = push.ref.replace(/^refs\/(?:heads|tags)\//, '')
    return { type: isTag ? 'tag' : 'branch', name, target: commitJson(repository, commit) }
  }
  return {
    old: end(push.before),
    new: end(push.after),
    created: push.before === null,
    closed: push.after === null,
    forced: push.forced,
    truncated: false,
    commits: push.commits.toReversed().map((commit) => commitJson(repository, commit)),
  }
}
