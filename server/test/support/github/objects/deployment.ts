import type { Deployment, DeploymentStatus, Environment, Repository, Reviewer } from '../types.ts'
import { simpleUser } from './accounts.ts'
import { actionsApp } from './check-run.ts'
import { apiUrl, type Context, pageUrl, type Urls } from './urls.ts'

export function deploymentObject(context: Context, deployment: Deployment) {
  const url = `${apiUrl(context, deployment.repository)}/deployments/${deployment.id}`
  return {
    url,
    id: deployment.id,
    node_id: `DE_${deployment.id}`,
    task: 'deploy',
    original_environment: deployment.environment,
    environment: deployment.environment,
    description: deployment.description,
    created_at: deployment.created_at,
    updated_at: deployment.updated_at,
    statuses_url: `${url}/statuses`,
    repository_url: apiUrl(context, deployment.repository),
    creator: simpleUser(context, deployment.creator),
    sha: deployment.sha,
    ref: deployment.ref,
    payload: {},
    transient_environment: false,
    production_environment: deployment.environment === 'production',
    performed_via_github_app: deployment.run === null ? null : actionsApp(context),
  }
}

export function deploymentStatus(context: Context, deployment: Deployment, status: DeploymentStatus) {
  const url = `${apiUrl(context, deployment.repository)}/deployments/${deployment.id}`
  return {
    url: `${url}/statuses/${status.id}`,
    id: status.id,
    node_id: `DES_${status.id}`,
    state: status.state,
    creator: simpleUser(context, status.creator),
    description: '',
    environment: deployment.environment,
    target_url: status.log_url,
    created_at: status.created_at,
    updated_at: status.created_at,
    deployment_url: url,
    repository_url: apiUrl(context, deployment.repository),
    environment_url: status.environment_url,
    log_url: status.log_url,
    performed_via_github_app: deployment.run === null ? null : actionsApp(context),
  }
}

function environmentName(urls: Urls, repository: Repository, { id, name }: Environment) {
  return {
    id,
    node_id: `EN_${id}`,
    name,
    url: `${apiUrl(urls, repository)}/environments/${encodeURIComponent(name)}`,
    html_url: `${pageUrl(urls, repository)}/deployments/activity_log?environments_filter=${encodeURIComponent(name)}`,
  }
}

/** The environment of an approval, which has no rules. */
export function approvedEnvironment(urls: Urls, repository: Repository, environment: Environment) {
  const { created_at } = environment
  return { ...environmentName(urls, repository, environment), created_at, updated_at: created_at }
}

export function environmentObject(urls: Urls, repository: Repository, environment: Environment) {
  const { branches } = environment
  return {
    ...approvedEnvironment(urls, repository, environment),
    can_admins_bypass: true,
    protection_rules: protectionRules(urls, environment),
    deployment_branch_policy: branches === null ? null : { protected_branches: false, custom_branch_policies: true },
  }
}

/** The ids of the rules are derived from that of the environment. */
function protectionRules(urls: Urls, { id, waitTimer, reviewers, branches, customRules }: Environment) {
  const rule = (offset: number, type: string) => ({ id: id * 100 + offset, node_id: `GA_${id * 100 + offset}`, type })
  const wait = waitTimer === 0 ? [] : [{ ...rule(1, 'wait_timer'), wait_timer: waitTimer }]
  const required = { ...rule(2, 'required_reviewers'), prevent_self_review: false }
  const reviews =
    reviewers.length === 0
      ? []
      : [{ ...required, reviewers: reviewers.map((reviewer) => reviewerObject(urls, reviewer)) }]
  const policy = branches === null ? [] : [rule(3, 'branch_policy')]
  const custom = customRules.map(({ id, app }) => ({ id, node_id: `GA_${id}`, type: app.slug, enabled: true }))
  return [...wait, ...reviews, ...policy, ...custom]
}

export function customRules({ api }: Urls, { customRules }: Environment) {
  return customRules.map(({ id, app }) => ({
    id,
    node_id: `GA_${id}`,
    enabled: true,
    app: { id: app.id, node_id: `A_${app.id}`, slug: app.slug, integration_url: `${api}/apps/${app.slug}` },
  }))
}

export function reviewerObject(urls: Urls, reviewer: Reviewer) {
  if (reviewer.type === 'User') return { type: 'User', reviewer: simpleUser(urls, reviewer.account) }
  const url = `${urls.api}/teams/${reviewer.id}`
  const team = {
    id: reviewer.id,
    node_id: `T_${reviewer.id}`,
    name: reviewer.name,
    slug: reviewer.slug,
    description: null,
    privacy: 'closed',
    notification_setting: 'notifications_enabled',
    permission: 'pull',
    type: 'organization',
    url,
    html_url: `${urls.html}/orgs/acme/teams/${reviewer.slug}`,
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    parent: null,
  }
  return { type: 'Team', reviewer: team }
}

/** An environment that a run waits for. */
export function pendingDeployment(urls: Urls, deployment: Deployment, environment: Environment) {
  return {
    environment: environmentName(urls, deployment.repository, environment),
    wait_timer: environment.waitTimer,
    wait_timer_started_at: environment.waitTimer === 0 ? null : deployment.created_at,
    current_user_can_approve: false,
    reviewers: environment.reviewers.map((reviewer) => reviewerObject(urls, reviewer)),
  }
}
