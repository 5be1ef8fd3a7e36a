import type { Change } from '../hosts/change.ts'
import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { Deployment, Job, Repository, Run } from '../hosts/types.ts'
import { pullRequest, push, repository } from './objects.ts'
import { build } from './pipeline-objects.ts'
import { alert, approval } from './rule-objects.ts'
import { type ServiceHooks, scopeOf } from './service-hooks.ts'
import { type AzureState, guidOf, newToken } from './state.ts'

type RepositoryChange = Extract<Change, { type: 'repository' }>
type Send = (eventType: string, publisherId: string, resource: object) => void

/**
 * Sends the service hooks of each change (https://learn.microsoft.com/azure/devops/service-hooks/events
 * has each event with its resource), and asks our check.
 */
export function sendEvents(state: AzureState, hooks: ServiceHooks): void {
  state.world.onChange((change) => {
    const { project } = change.repository
    const send: Send = (eventType, publisherId, resource) =>
      hooks.emit(eventType, [scopeOf(project)], {
        subscriptionId: guidOf(eventType, project.uuid),
        notificationId: state.world.newIds().id,
        id: state.world.newIds().uuid,
        eventType,
        publisherId,
        resource,
        resourceVersion: '1.0',
        resourceContainers: {
          collection: { id: project.owner.uuid },
          account: { id: project.owner.uuid },
          project: { id: project.uuid },
        },
        createdDate: state.world.now().toISOString(),
      })
    sendChange(state, hooks, change, send)
  })
}

function sendChange(state: AzureState, hooks: ServiceHooks, change: Change, send: Send): void {
  const its = change.repository
  if (change.type === 'repository') sendRepository(state, change, send)
  if (change.type === 'push')
    send('git.push', 'tfs', { ...push(state, change.push, its), repository: repository(state, its) })
  if (change.type === 'pull_request' || change.type === 'review') {
    const event = change.action === 'opened' ? 'created' : 'updated'
    send(`git.pullrequest.${event}`, 'tfs', pullRequest(state, change.pullRequest))
  }
  if (change.type === 'run') sendRun(state, change.run, send)
  if (change.type === 'job') sendJob(change.run, change.job, send)
  if (change.type === 'gate' && change.gate === 'ours') ask(state, hooks, change.deployment)
  if (change.type === 'gate' && change.gate === 'reviewers') sendApproval(state, change.deployment, 'pending', send)
  if (change.type === 'approval') sendApproval(state, change.approval.deployment, 'completed', send)
  if (change.type === 'alert') {
    const event = change.action === 'opened' ? 'created' : 'state-changed'
    send(`ms.vss-alerts.alert-${event}-event`, 'advsec', alert(state, change.alert))
  }
}

/**
 * "Service hook events" (Azure DevOps), "Repository created", "renamed", "deleted" and "status
 * changed": a deletion has `repositoryId`, the others have `repository`. There is no event of a new
 * default branch or visibility.
 */
function sendRepository(state: AzureState, { repository: its, action, from }: RepositoryChange, send: Send): void {
  const shown = repository(state, its)
  if (action === 'created') send('git.repo.created', 'tfs', { repository: shown })
  if (action === 'renamed') send('git.repo.renamed', 'tfs', { oldName: from, newName: its.name, repository: shown })
  if (action === 'archived' || action === 'unarchived')
    send('git.repo.statuschanged', 'tfs', { disabled: its.archived, repository: shown })
  if (action === 'deleted')
    send('git.repo.deleted', 'tfs', { repositoryId: its.uuid, repositoryName: its.name, isHardDelete: false })
}

function runResource(run: Run) {
  const { status, conclusion } = lastAttempt(run)
  const pipeline = { id: run.workflow.id, revision: 1, name: run.workflow.name, folder: '\\' }
  const state = status === 'completed' ? 'completed' : 'inProgress'
  const result = conclusion === null ? {} : { result: conclusion === 'success' ? 'succeeded' : 'failed' }
  return { pipeline, state, ...result, createdDate: run.created_at.toISOString(), id: run.id, name: String(run.number) }
}

function sendRun(state: AzureState, run: Run, send: Send): void {
  const shown = runResource(run)
  send('ms.vss-pipelines.run-state-changed-event', 'pipelines', { run: shown, pipeline: shown.pipeline })
  if (shown.state === 'completed') send('build.complete', 'tfs', build(state, run))
}

function sendJob(run: Run, { name, status }: Job, send: Send): void {
  const shown = { name, state: status === 'completed' ? 'completed' : status === 'in_progress' ? 'running' : 'waiting' }
  const about = { run: runResource(run), stage: { ...shown, id: guidOf(name, 'stage') } }
  send('ms.vss-pipelines.stage-state-changed-event', 'pipelines', about)
  send('ms.vss-pipelines.job-state-changed-event', 'pipelines', {
    ...about,
    job: { ...shown, id: guidOf(name, 'job') },
  })
}

function sendApproval(state: AzureState, deployment: Deployment, kind: 'pending' | 'completed', send: Send): void {
  const { run, job, environment, repository: its } = deployment
  send(`ms.vss-pipelinechecks-events.approval-${kind}`, 'pipelines', {
    approval: approval(state, run, job),
    projectId: its.project.uuid,
    run: runResource(run),
    resource: { type: 'environment', id: environmentId(state, its, environment.name), name: environment.name },
    stageName: job.name,
    attemptId: deployment.attempt,
  })
}

export function environmentId(state: AzureState, { project }: Repository, name: string): string {
  const found = state.environmentsOf(project).find((one) => one.name.toLowerCase() === name.toLowerCase())
  return String(found?.id)
}

/** What the request of our check names. */
export function checkIds({ run, job, attempt }: Deployment): { plan: string; job: string; task: string } {
  const plan = guidOf(run.uuid, job.name, attempt, 'check plan')
  return { plan, job: guidOf(plan, 'job'), task: guidOf(plan, 'task') }
}

/**
 * What docs/azure-devops.md tells people to configure:
 * https://learn.microsoft.com/azure/devops/pipelines/process/invoke-checks, in callback mode.
 */
function ask(state: AzureState, hooks: ServiceHooks, deployment: Deployment): void {
  const { run, repository: its, environment } = deployment
  const connection = state.connectionOf(its.project)
  if (connection === undefined) return
  const { plan, ...ids } = checkIds(deployment)
  const token = newToken()
  state.checks.push({ plan, token, run, deployment, log: null })
  const headers = {
    PlanUrl: `${state.url}/${its.owner.login}/`,
    ProjectId: its.project.uuid,
    HubName: 'checks',
    PlanId: plan,
    JobId: ids.job,
    TimelineId: plan,
    TaskInstanceId: ids.task,
    AuthToken: token,
  }
  hooks.ask(connection, headers, {
    BuildId: String(run.id),
    StageAttempt: String(deployment.attempt),
    RepositoryId: its.uuid,
    SourceBranch: `refs/heads/${run.branch}`,
    SourceVersion: run.sha,
    Environment: environment.name,
  })
}
