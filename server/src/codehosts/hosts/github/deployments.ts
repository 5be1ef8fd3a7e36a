import { type Static, Type } from 'typebox'
import { type DeploymentReads, truncatePage } from '../../code-host.ts'
import type {
  HostDeployment,
  HostDeploymentReview,
  HostDeploymentState,
  HostDeploymentStatus,
  HostEnvironment,
  HostGateRequest,
  HostPendingDeployment,
  HostRunAttempt,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import type { GithubApi } from './client.ts'
import { Account, toHostAccount } from './repositories.ts'

const ENVIRONMENT = 'GET /repos/{owner}/{repo}/environments/{environment_name}'
const CUSTOM_RULES = `${ENVIRONMENT}/deployment_protection_rules`
const RUN = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}'

export function createDeploymentReads(api: GithubApi): DeploymentReads {
  return {
    /** GitHub lists the newest first, and cannot filter by the time. */
    async listDeployments(repository, options) {
      const route = 'GET /repos/{owner}/{repo}/deployments'
      const page = await api.readPage(route, { repository }, options, (item) => parseDeployment(item, repository))
      return page === 'not_modified' ? page : truncatePage(page, options.since)
    },

    async readDeployment(repository, id) {
      const route = 'GET /repos/{owner}/{repo}/deployments/{deployment_id}'
      const deployment = await api.read(route, { repository, deployment_id: id })
      return deployment && parseDeployment(deployment, repository)
    },

    listGateRequests: (deployment) => listRequests(api, deployment),

    async listDeploymentStatuses(deployment) {
      const route = 'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses'
      const { repository, id } = deployment
      const parameters = { repository, deployment_id: id }
      const statuses = await api.readAll(route, parameters, (status) =>
        toHostDeploymentStatus(readAs(DeploymentStatus, status), deployment, null),
      )
      // Ids grow with time, and decide within a second.
      return statuses.sort(
        (one, other) => one.created_at.getTime() - other.created_at.getTime() || Number(one.id) - Number(other.id),
      )
    },

    /** The rules of Apps are a list of their own, which older servers do not have. */
    async readEnvironment(repository, name) {
      const parameters = { repository, environment_name: name }
      const environment = await api.read(ENVIRONMENT, parameters)
      if (environment === null) return null
      const rules = await api.read(CUSTOM_RULES, parameters)
      const { app_id: ownAppId } = await api.app()
      return parseEnvironment(environment, rules, ownAppId)
    },

    listPendingDeployments: (repository, runId) => listPending(api, repository, runId),

    async listDeploymentReviews(repository, runId) {
      const approvals = await api.read(`${RUN}/approvals`, { repository, run_id: runId })
      const of = { repository, run: { id: runId, attempt: null }, at: api.now() }
      return Array.isArray(approvals) ? api.parseItems(approvals, (approval) => parseApproval(approval, of)) : []
    },
  }
}

async function listPending(api: GithubApi, repository: HostRepository, runId: string) {
  const pending = await api.read(`${RUN}/pending_deployments`, { repository, run_id: runId })
  return Array.isArray(pending) ? api.parseItems(pending, parsePendingDeployment) : []
}

/**
 * GitHub asks our rule with the event `deployment_protection_rule`, once, and lists no requests.
 * One that was lost follows from what GitHub does list: a run that waits for an environment which
 * has our rule ("Get pending deployments for a workflow run", "Get all deployment protection rules
 * for an environment"). The answer goes to the address of "Review custom deployment protection
 * rules for a workflow run", which the event would have named.
 */
async function listRequests(api: GithubApi, deployment: HostDeployment): Promise<HostGateRequest[]> {
  const { repository, environment, run } = deployment
  if (run === null) return []
  const pending = await listPending(api, repository, run.id)
  if (!pending.some((waiting) => waiting.environment === environment)) return []
  const rules = await api.read(CUSTOM_RULES, { repository, environment_name: environment })
  const { app_id: ownAppId, api_url: apiUrl } = await api.app()
  if (rules === null || !parseCustomRules(rules, ownAppId).some(({ is_own }) => is_own)) return []
  const request = {
    repository,
    environment,
    deployment,
    run: { id: run.id, attempt: null },
    ref: deployment.ref,
    commit_sha: deployment.commit_sha,
    callback_url: `${apiUrl}/repos/${repository.full_name}/actions/runs/${run.id}/deployment_protection_rule`,
    callback_secret: null,
    is_rule: true,
    requested_at: deployment.created_at,
  }
  return [request]
}

export const Deployment = Type.Object({
  id: Id,
  environment: Text,
  ref: Maybe(Text),
  sha: Text,
  creator: Maybe(Account),
  description: Maybe(Text),
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
})

/** The run that deploys, in webhooks. */
export const DeployingRun = Type.Object({ id: Id, run_attempt: Maybe(Id) })

export function toRunAttempt(run: Static<typeof DeployingRun> | null | undefined): HostRunAttempt | null {
  return run ? { id: String(run.id), attempt: run.run_attempt || null } : null
}

export function toHostDeployment(
  deployment: Static<typeof Deployment>,
  repository: HostRepository,
  run: HostRunAttempt | null,
): HostDeployment {
  return {
    repository,
    id: String(deployment.id),
    environment: deployment.environment,
    ref: parseText(deployment.ref),
    commit_sha: deployment.sha,
    run,
    creator: toHostAccount(deployment.creator),
    description: parseText(deployment.description),
    created_at: new Date(deployment.created_at),
    updated_at: new Date(deployment.updated_at ?? deployment.created_at),
  }
}

/** A deployment of a list. Lists do not name the run; the statuses of the deployment may. */
export function parseDeployment(value: unknown, repository: HostRepository): HostDeployment {
  return toHostDeployment(readAs(Deployment, value), repository, null)
}

export const DeploymentStatus = Type.Object({
  id: Maybe(Id),
  state: Text,
  creator: Maybe(Account),
  environment_url: Maybe(Text),
  log_url: Maybe(Text),
  target_url: Maybe(Text),
  created_at: Timestamp,
})

const STATES: Readonly<Record<string, HostDeploymentState>> = {
  queued: 'waiting',
  pending: 'waiting',
  waiting: 'waiting',
  in_progress: 'in_progress',
  success: 'success',
  failure: 'failure',
  error: 'failure',
  cancelled: 'cancelled',
  inactive: 'inactive',
}

/**
 * Null for a state that we do not know. `jobId` is null if the payload does not name the job: then
 * the address of the log does, and the run too.
 */
export function toHostDeploymentStatus(
  status: Static<typeof DeploymentStatus>,
  deployment: HostDeployment,
  jobId: string | null,
): HostDeploymentStatus | null {
  const state = STATES[status.state]
  if (state === undefined) return null
  const logUrl = parseText(status.log_url) ?? parseText(status.target_url)
  const named = idsOfLog(logUrl, deployment.repository)
  const run = deployment.run ?? (named.run_id === null ? null : { id: named.run_id, attempt: null })
  return {
    deployment: { ...deployment, run },
    id: status.id ? String(status.id) : null,
    state,
    environment_url: parseText(status.environment_url),
    log_url: logUrl,
    job_id: jobId ?? named.job_id,
    creator: toHostAccount(status.creator),
    created_at: new Date(status.created_at),
  }
}

const RUN_PATH = /^\/actions\/runs\/([1-9]\d{0,15})(?:\/jobs?\/([1-9]\d{0,15}))?(?:\/|$)/
/** The older form, which names the job only. */
const JOB_PATH = /^\/runs\/([1-9]\d{0,15})\/?$/

/**
 * The log of a workflow's deployment is the page of the job. Anyone who may create statuses chooses
 * the address, so that of another repository is ignored.
 */
function idsOfLog(address: string | null, repository: HostRepository) {
  const none = { run_id: null, job_id: null }
  if (address === null || !URL.canParse(address)) return none
  const { host, pathname } = new URL(address)
  const prefix = `/${repository.full_name}`
  if (host !== repository.host || !pathname.toLowerCase().startsWith(`${prefix.toLowerCase()}/`)) return none
  const path = pathname.slice(prefix.length)
  const [, runId = null, jobId = null] = RUN_PATH.exec(path) ?? []
  return { run_id: runId, job_id: jobId ?? JOB_PATH.exec(path)?.[1] ?? null }
}

/** People have a login, teams a slug. */
const Reviewer = Type.Object({
  type: Maybe(Text),
  reviewer: Maybe(Type.Object({ login: Maybe(Text), slug: Maybe(Text) })),
})

const Environment = Type.Object({
  name: Text,
  protection_rules: Maybe(Type.Array(Type.Object({ type: Text, reviewers: Maybe(Type.Array(Reviewer)) }))),
})

const CustomRules = Type.Object({
  custom_deployment_protection_rules: Maybe(
    Type.Array(Type.Object({ enabled: Maybe(Type.Boolean()), app: Type.Object({ id: Id, slug: Maybe(Text) }) })),
  ),
})

/** GitHub's own rules. A rule of an App can appear among them under the name of the App. */
const OWN_RULES = ['required_reviewers', 'wait_timer', 'branch_policy']
/** The word of the specification for rules of Apps. */
const CUSTOM_RULE = 'customRule'

/** `rules` is null if the rules of Apps may not be read. */
export function parseEnvironment(value: unknown, rules: unknown, ownAppId: string): HostEnvironment {
  const environment = readAs(Environment, value)
  const own = environment.protection_rules ?? []
  const custom = rules === null ? [] : parseCustomRules(rules, ownAppId)
  const named = own.map(({ type }) => (OWN_RULES.includes(type) ? type : CUSTOM_RULE))
  const types = named.concat(custom.length > 0 ? [CUSTOM_RULE] : [])
  return {
    name: environment.name,
    rule_types: [...new Set(types)],
    ...parseReviewers(own.flatMap(({ reviewers }) => reviewers ?? [])),
    custom_rules: custom,
  }
}

function parseCustomRules(value: unknown, ownAppId: string): HostEnvironment['custom_rules'] {
  const rules = readAs(CustomRules, value).custom_deployment_protection_rules ?? []
  return rules
    .filter(({ enabled }) => enabled !== false)
    .map(({ app }) => {
      const id = String(app.id)
      return { app_id: id, slug: app.slug ?? id, is_own: id === ownAppId }
    })
}

function parseReviewers(reviewers: Static<typeof Reviewer>[]): { reviewers: string[]; reviewer_teams: string[] } {
  const named = reviewers.flatMap(({ reviewer }) => reviewer ?? [])
  return {
    reviewers: [...new Set(named.flatMap(({ login }) => parseText(login) ?? []))],
    reviewer_teams: [...new Set(named.flatMap(({ login, slug }) => (login ? [] : (parseText(slug) ?? []))))],
  }
}

const PendingDeployment = Type.Object({
  environment: Type.Object({ name: Text }),
  reviewers: Maybe(Type.Array(Reviewer)),
})

function parsePendingDeployment(value: unknown): HostPendingDeployment {
  const pending = readAs(PendingDeployment, value)
  return { environment: pending.environment.name, ...parseReviewers(pending.reviewers ?? []) }
}

const Approval = Type.Object({
  state: Text,
  environments: Type.Array(Type.Object({ name: Text })),
  user: Maybe(Account),
  comment: Maybe(Text),
})

/**
 * A reviewer's answer to the deployments of a run; null for an entry that is only a comment. GitHub
 * does not say when the answer was given: `at` is the time of the read.
 */
export function parseApproval(
  value: unknown,
  of: { repository: HostRepository; run: HostRunAttempt; at: Date },
): HostDeploymentReview | null {
  const approval = readAs(Approval, value)
  if (approval.state !== 'approved' && approval.state !== 'rejected') return null
  return {
    ...of,
    environments: approval.environments.map(({ name }) => name),
    state: approval.state,
    reviewer: toHostAccount(approval.user),
    comment: parseText(approval.comment),
  }
}
