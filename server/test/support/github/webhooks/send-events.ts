import type { Change } from '../../hosts/change.ts'
import type { Alert } from '../../hosts/types.ts'
import { alertObject } from '../objects/alert.ts'
import type { GitHubWorld } from '../world.ts'
import { sendPullRequest, sendPush, sendReview } from './change-events.ts'
import { sendApproval, sendDeployment, sendDeploymentStatus, sendGate } from './deployment-events.ts'
import { sendJob, sendRun } from './run-events.ts'

export type Of<Type extends Change['type']> = Extract<Change, { type: Type }>

/**
 * Sends the webhooks of each change to the App. Each event has the heading of its name on
 * https://docs.github.com/webhooks/webhook-events-and-payloads; its payload is checked against
 * GitHub's description. Commit statuses have an event to which the App does not subscribe.
 */
export function sendEvents(world: GitHubWorld): void {
  world.onChange((change) => {
    if (change.type === 'push') sendPush(world, change)
    if (change.type === 'pull_request') sendPullRequest(world, change)
    if (change.type === 'review') sendReview(world, change)
    if (change.type === 'run') sendRun(world, change)
    if (change.type === 'job') sendJob(world, change)
    if (change.type === 'deployment_created') sendDeployment(world, change)
    if (change.type === 'deployment') sendDeploymentStatus(world, change)
    if (change.type === 'gate') sendGate(world, change)
    if (change.type === 'approval') sendApproval(world, change)
    if (change.type === 'alert') sendAlert(world, change)
    if (change.type === 'repository') sendRepository(world, change)
  })
}

function sendRepository(world: GitHubWorld, { repository, action, from, by: sender }: Of<'repository'>): void {
  const send = (name: string, fields = {}) =>
    world.send(repository, { event: 'repository', action: name, sender, fields })
  if (action === 'renamed') send('renamed', { changes: { repository: { name: { from } } } })
  else if (action === 'default_branch') send('edited', { changes: { default_branch: { from } } })
  else if (action === 'visibility') send(repository.private ? 'privatized' : 'publicized')
  else send(action)
}

/** Secrets are not fixed but resolved: GitHub has no `fixed` for them. */
function sendAlert(world: GitHubWorld, { repository, alert, action, from, by: sender }: Of<'alert'>): void {
  const { opened, dismissed, reopened, found } = ACTIONS[alert.type]
  const names = { opened, dismissed, fixed: 'fixed', reopened: from === 'dismissed' ? reopened : found }
  const fields = alertFields(world, alert)
  world.send(repository, { event: `${alert.type}_alert`, action: names[action], sender, fields })
}

/** `reopened` by a person; `found` again by the scanner. */
const ACTIONS = {
  code_scanning: {
    opened: 'created',
    dismissed: 'closed_by_user',
    reopened: 'reopened_by_user',
    found: 'reopened',
  },
  dependabot: { opened: 'created', dismissed: 'dismissed', reopened: 'reopened', found: 'reintroduced' },
  secret_scanning: { opened: 'created', dismissed: 'resolved', reopened: 'reopened', found: 'reopened' },
}

/** Webhooks have neither the secret nor its place, and no time of a fix for code scanning. */
function alertFields(world: GitHubWorld, alert: Alert): Record<string, unknown> {
  const { secret, first_location_detected, ...object } = alertObject(world, alert)
  if (alert.type !== 'code_scanning') return { alert: object }
  return { alert: { ...object, fixed_at: null }, ref: alert.details.ref, commit_oid: alert.details.sha }
}
