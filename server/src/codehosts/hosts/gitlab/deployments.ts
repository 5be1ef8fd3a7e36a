import { type Static, Type } from 'typebox'
import {
  type DeploymentReads,
  type HostReader,
  type ListOptions,
  type ListResult,
  truncatePage,
} from '../../code-host.ts'
import {
  type HostDeployment,
  type HostDeploymentReview,
  type HostDeploymentState,
  type HostDeploymentStatus,
  type HostEnvironment,
  type HostGateRequest,
  type HostPendingDeployment,
  NO_RULES,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { Account, formatProjectPath, type Session, toHostAccount } from './client.ts'
import { Environment, parseApprovalRules } from './environments.ts'

export function createDeploymentReads(session: Session): DeploymentReads {
  return {
    listDeployments: (repository, options) => fetchDeployments(session, repository, options),

    async readDeployment(repository, id) {
      const found = await fetchDeployment(session, repository, id)
      return found && toHostDeployment(found, repository)
    },

    listGateRequests: listGateRequests(session),

    async listDeploymentStatuses({ repository, id }) {
      const found = await fetchDeployment(session, repository, id)
      return found === null ? [] : parseStatuses(found, toHostDeployment(found, repository))
    },

    readEnvironment: (repository, name) => fetchEnvironment(session, repository, name),

    async listPendingDeployments(repository, runId) {
      const blocked = await fetchRunDeployments(session, repository, runId, { status: 'blocked' })
      return Promise.all(
        blocked.map(({ environment }) => fetchPendingDeployment(session, repository, environment.name)),
      )
    },

    async listDeploymentReviews(repository, runId) {
      const found = await fetchRunDeployments(session, repository, runId, {})
      const self = await session.self()
      const read = await Promise.all(found.map(({ id }) => fetchDeployment(session, repository, String(id))))
      return read.flatMap((one) =>
        one ? toDeploymentReviews(one, toHostDeployment(one, repository), self?.id ?? null) : [],
      )
    },
  }
}

async function fetchDeployments(
  { api }: Session,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostDeployment>> {
  const query = { order_by: 'id', sort: 'desc' }
  const page = await api.readPage({ path: `${formatProjectPath(repository)}/deployments`, query, options }, (value) =>
    toHostDeployment(parseDeployment(value), repository),
  )
  return page === 'not_modified' ? page : truncatePage(page, options.since)
}

const PAGES_OF_RUN_MAX = 3

/** GitLab cannot filter by the pipeline, so only the newest deployments are searched. */
async function fetchRunDeployments(
  { api }: Session,
  repository: HostRepository,
  runId: string,
  query: { status?: string },
): Promise<Deployment[]> {
  const path = `${formatProjectPath(repository)}/deployments`
  const values = await api.readList(path, { ...query, order_by: 'id', sort: 'desc' }, PAGES_OF_RUN_MAX)
  const deployments = api.parseItems(values ?? [], parseDeployment)
  return deployments.filter(({ deployable }) => String(deployable?.pipeline?.id) === runId)
}

async function fetchPendingDeployment(
  session: Session,
  repository: HostRepository,
  name: string,
): Promise<HostPendingDeployment> {
  const environment = await fetchEnvironment(session, repository, name)
  const { reviewers = [], reviewer_teams = [] } = environment ?? {}
  return { environment: name, reviewers, reviewer_teams }
}

/** Protection exists in the editions with deployment approvals. Others have none to read. */
async function fetchEnvironment(
  session: Session,
  repository: HostRepository,
  name: string,
): Promise<HostEnvironment | null> {
  const { api } = session
  const project = formatProjectPath(repository)
  const named = await api.readAll(`${project}/environments`, { name }, (value) => readAs(Environment, value))
  if (named.length === 0) return null
  const found = await api.read(`${project}${encodePath`/protected_environments/${name}`}`)
  if (found === null) return { name, ...NO_RULES }
  return describeRules(session, name, parseApprovalRules(found))
}

/** A rule that names our own user is ours; the others are answered by people. */
async function describeRules(
  session: Session,
  name: string,
  { users, groups, requires_approval }: ReturnType<typeof parseApprovalRules>,
): Promise<HostEnvironment> {
  const self = await session.self()
  const accounts = await Promise.all(users.map((id) => session.user(id)))
  const people = users.flatMap((id, at) => (id === self?.id ? [] : (accounts[at]?.login ?? `user ${id}`)))
  const isOurs = self !== null && users.includes(self.id)
  const needsPeople = requires_approval && (people.length > 0 || groups.length > 0 || !isOurs)
  return {
    name,
    rule_types: [...(needsPeople ? ['required_reviewers'] : []), ...(isOurs ? ['customRule'] : [])],
    reviewers: people,
    reviewer_teams: groups,
    custom_rules: isOurs ? [{ app_id: self.id, slug: self.login, is_own: true }] : [],
  }
}

/** A deployment by its id, or by the job that deploys. */
export async function fetchDeployment(
  { api }: Session,
  repository: HostRepository,
  id: string,
): Promise<Deployment | null> {
  const path = `${formatProjectPath(repository)}/deployments`
  const job = parseDeploymentId(id)
  if (job === null) {
    const found = await api.read(`${path}${encodePath`/${id}`}`)
    return found && parseDeployment(found)
  }
  const query = { environment: job.environment, order_by: 'id', sort: 'desc' }
  const deployments = api.parseItems((await api.readList(path, query, 1)) ?? [], parseDeployment)
  return deployments.find(({ deployable }) => String(deployable?.id) === job.id) ?? null
}

const Deployable = Type.Object({
  id: Id,
  status: Maybe(Text),
  created_at: Maybe(Timestamp),
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
  web_url: Maybe(Text),
  pipeline: Maybe(Type.Object({ id: Id })),
})

const Approval = Type.Object({
  user: Maybe(Account),
  status: Text,
  created_at: Timestamp,
  comment: Maybe(Text),
})

const Deployment = Type.Object({
  id: Id,
  ref: Maybe(Text),
  sha: Text,
  status: Text,
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
  user: Maybe(Account),
  environment: Type.Object({ name: Text, external_url: Maybe(Text) }),
  /** The job that deploys. Deployments that were made by the API have none. */
  deployable: Maybe(Deployable),
  approvals: Maybe(Type.Array(Approval)),
  approval_summary: Maybe(
    Type.Object({
      rules: Maybe(Type.Array(Type.Object({ deployment_approvals: Maybe(Type.Array(Approval)) }))),
    }),
  ),
})

export type Deployment = Static<typeof Deployment>

export function parseDeployment(value: unknown): Deployment {
  return readAs(Deployment, value)
}

export function toHostDeployment(deployment: Deployment, repository: HostRepository): HostDeployment {
  const pipeline = deployment.deployable?.pipeline
  return {
    repository,
    id: String(deployment.id),
    environment: deployment.environment.name,
    ref: parseText(deployment.ref),
    commit_sha: deployment.sha,
    run: pipeline ? { id: String(pipeline.id), attempt: null } : null,
    creator: toHostAccount(deployment.user),
    description: null,
    created_at: new Date(deployment.created_at),
    updated_at: new Date(deployment.updated_at ?? deployment.created_at),
  }
}

const STATES: Readonly<Record<string, HostDeploymentState>> = {
  created: 'waiting',
  blocked: 'waiting',
  running: 'in_progress',
  success: 'success',
  failed: 'failure',
  canceled: 'cancelled',
  skipped: 'cancelled',
}

/**
 * GitLab keeps no list of states. The earlier ones follow from the times of the deployment and of
 * its job, so that they are the same whenever they are read. None for a state that we do not know.
 */
export function parseStatuses(found: Deployment, deployment: HostDeployment): HostDeploymentStatus[] {
  const state = STATES[found.status]
  if (state === undefined) return []
  const job = found.deployable
  const waiting = { state: 'waiting' as const, at: deployment.created_at }
  const startedAt = parseDate(job?.started_at) ?? (job ? null : deployment.created_at)
  const started = startedAt === null ? [] : [{ state: 'in_progress' as const, at: startedAt }]
  const endedAt = parseDate(job?.finished_at) ?? deployment.updated_at
  const passed = state === 'waiting' ? [] : state === 'in_progress' ? inProgress(started, deployment) : started
  const ended = state === 'waiting' || state === 'in_progress' ? [] : [{ state, at: endedAt }]
  return [waiting, ...passed, ...ended].map((one) => toHostDeploymentStatus(found, deployment, one))
}

type TimedState = { state: HostDeploymentState; at: Date }

/** Without the start of the job, the last change of the deployment is its start. */
function inProgress(started: TimedState[], { updated_at: at }: HostDeployment): TimedState[] {
  return started.length > 0 ? started : [{ state: 'in_progress', at }]
}

function toHostDeploymentStatus(
  found: Deployment,
  deployment: HostDeployment,
  { state, at }: TimedState,
): HostDeploymentStatus {
  const job = found.deployable
  return {
    deployment,
    id: null,
    state,
    environment_url: parseText(found.environment.external_url),
    log_url: parseText(job?.web_url),
    job_id: job ? String(job.id) : null,
    creator: deployment.creator,
    created_at: at,
  }
}

/** The answers of people. `ownId` is the id of our own user, whose answers are our decisions. */
function toDeploymentReviews(
  found: Deployment,
  deployment: HostDeployment,
  ownId: string | null,
): HostDeploymentReview[] {
  const { run, repository, environment } = deployment
  if (run === null) return []
  return getApprovals(found).flatMap(({ user, status, comment, created_at }): HostDeploymentReview[] => {
    const isAnswer = status === 'approved' || status === 'rejected'
    if (!isAnswer || (user && String(user.id) === ownId)) return []
    const answer = { state: status, reviewer: toHostAccount(user), comment: parseText(comment) } as const
    return [{ repository, run, environments: [environment], ...answer, at: new Date(created_at) }]
  })
}

/** All answers: without rules, and for each of several rules. */
export function getApprovals({ approvals, approval_summary: summary }: Deployment): Static<typeof Approval>[] {
  const ofRules = (summary?.rules ?? []).flatMap(({ deployment_approvals: given }) => given ?? [])
  const all = [...(approvals ?? []), ...ofRules]
  const byKey = new Map(all.map((one) => [`${one.user?.id} ${one.status} ${one.created_at}`, one]))
  return [...byKey.values()]
}

const OF_JOB = /^job (\d{1,16}) (.+)$/

/**
 * Events of jobs name the job and the environment, and not the deployment. The deployment that is
 * read then has its own id.
 */
export function formatDeploymentId(jobId: number, environment: string): string {
  return `job ${jobId} ${environment}`
}

/** Null for the id of a deployment. */
export function parseDeploymentId(id: string): { id: string; environment: string } | null {
  const [, jobId, environment] = OF_JOB.exec(id) ?? []
  return jobId === undefined || environment === undefined ? null : { id: jobId, environment }
}

/**
 * A deployment that waits for approvals, and one whose job a person has to start. The address is
 * where the answer is sent.
 */
function listGateRequests(session: Session): HostReader['listGateRequests'] {
  return async ({ repository, id }) => {
    const found = await fetchDeployment(session, repository, id)
    const deployment = found && toHostDeployment(found, repository)
    const question = found && toGateRequest(found, deployment as HostDeployment)
    if (!deployment || !question) return []
    return [{ ...question, callback_url: `${session.apiUrl}${question.callback_url}` }]
  }
}

function toGateRequest(found: Deployment, deployment: HostDeployment): HostGateRequest | null {
  const project = formatProjectPath(deployment.repository)
  const { environment, run, ref, commit_sha } = deployment
  const shared = {
    ...{ repository: deployment.repository, environment, deployment, run, ref, commit_sha },
    callback_secret: null,
    requested_at: deployment.created_at,
  }
  if (found.status === 'blocked') {
    const path = `${project}${encodePath`/deployments/${found.id}/approval`}`
    return { ...shared, callback_url: path, is_rule: true }
  }
  const job = found.deployable
  if (found.status !== 'created' || job?.status !== 'manual') return null
  return { ...shared, callback_url: `${project}${encodePath`/jobs/${job.id}/play`}`, is_rule: false }
}
