import { type DeploymentReads, type ListOptions, type ListResult, pageSince } from '../../code-host.ts'
import {
  type HostDeployment,
  type HostEnvironment,
  type HostPendingDeployment,
  NO_RULES,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { readAs } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { type Deployment, deploymentOf, parseDeployment, reviewsOf, statusesOf } from '../objects/deployment.parser.ts'
import { Environment, parseApprovalRules } from '../objects/environment.parser.ts'
import { findDeployment } from './find-deployment.ts'
import { listGateRequests } from './list-gate-requests.ts'

export function deploymentReads(session: Session): DeploymentReads {
  return {
    listDeployments: (repository, options) => listDeployments(session, repository, options),

    async readDeployment(repository, id) {
      const found = await findDeployment(session, repository, id)
      return found && deploymentOf(found, repository)
    },

    listGateRequests: listGateRequests(session),

    async listDeploymentStatuses({ repository, id }) {
      const found = await findDeployment(session, repository, id)
      return found === null ? [] : statusesOf(found, deploymentOf(found, repository))
    },

    readEnvironment: (repository, name) => readEnvironment(session, repository, name),

    async listPendingDeployments(repository, runId) {
      const blocked = await listOfRun(session, repository, runId, { status: 'blocked' })
      return Promise.all(blocked.map(({ environment }) => pendingOf(session, repository, environment.name)))
    },

    async listDeploymentReviews(repository, runId) {
      const found = await listOfRun(session, repository, runId, {})
      const self = await session.self()
      const read = await Promise.all(found.map(({ id }) => findDeployment(session, repository, String(id))))
      return read.flatMap((one) => (one ? reviewsOf(one, deploymentOf(one, repository), self?.id ?? null) : []))
    },
  }
}

async function listDeployments(
  { api }: Session,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostDeployment>> {
  const query = { order_by: 'id', sort: 'desc' }
  const page = await api.readPage({ path: `${projectPath(repository)}/deployments`, query, options }, (value) =>
    deploymentOf(parseDeployment(value), repository),
  )
  return page === 'not_modified' ? page : pageSince(page, options.since)
}

const PAGES_OF_RUN_MAX = 3

/** GitLab cannot filter by the pipeline, so only the newest deployments are searched. */
async function listOfRun(
  { api }: Session,
  repository: HostRepository,
  runId: string,
  query: { status?: string },
): Promise<Deployment[]> {
  const path = `${projectPath(repository)}/deployments`
  const values = await api.readList(path, { ...query, order_by: 'id', sort: 'desc' }, PAGES_OF_RUN_MAX)
  const deployments = api.parseItems(values ?? [], parseDeployment)
  return deployments.filter(({ deployable }) => String(deployable?.pipeline?.id) === runId)
}

async function pendingOf(session: Session, repository: HostRepository, name: string): Promise<HostPendingDeployment> {
  const environment = await readEnvironment(session, repository, name)
  const { reviewers = [], reviewer_teams = [] } = environment ?? {}
  return { environment: name, reviewers, reviewer_teams }
}

/** Protection exists in the editions with deployment approvals. Others have none to read. */
async function readEnvironment(
  session: Session,
  repository: HostRepository,
  name: string,
): Promise<HostEnvironment | null> {
  const { api } = session
  const project = projectPath(repository)
  const named = await api.readAll(`${project}/environments`, { name }, (value) => readAs(Environment, value))
  if (named.length === 0) return null
  const found = await api.read(`${project}${restPath`/protected_environments/${name}`}`)
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
