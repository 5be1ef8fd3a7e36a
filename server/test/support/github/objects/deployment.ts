import type {
  Account,
  AnyDeployment,
  Deployment,
  DeploymentStatus,
  Environment,
  Repository,
} from '../../hosts/types.ts'
import type { App } from '../types.ts'
import { simpleUser } from './accounts.ts'
import { ACTIONS_BOT, actionsApp } from './check-run.ts'
import { apiUrl, type Context, pageUrl, type Urls } from './urls.ts'

export function deploymentObject(context: Context, deployment: AnyDeployment) {
  const url = `${apiUrl(context, deployment.repository)}/deployments/${deployment.id}`
  return {
    url,
    id: deployment.id,
    node_id: `DE_${deployment.id}`,
    task: 'deploy',
    original_environment: deployment.environment.name,
    environment: deployment.environment.name,
    description: null,
    created_at: deployment.created_at,
    updated_at: deployment.updated_at,
    statuses_url: `${url}/statuses`,
    repository_url: apiUrl(context, deployment.repository),
    creator: simpleUser(context, deployment.creator),
    sha: deployment.sha,
    ref: deployment.ref,
    payload: {},
    transient_environment: false,
    production_environment: deployment.environment.name === 'production',
    performed_via_github_app: deployment.run === null ? null : actionsApp(context),
  }
}

/** GitHub Actions writes the statuses of jobs. */
export function creatorOf(context: Context, { run }: AnyDeployment, { creator }: DeploymentStatus): Account {
  return run === null ? creator : context.account(ACTIONS_BOT)
}

export function deploymentStatus(context: Context, deployment: AnyDeployment, status: DeploymentStatus) {
  const { repository, run, job, environment } = deployment
  const url = `${apiUrl(context, repository)}/deployments/${deployment.id}`
  const log_url = run === null ? '' : `${pageUrl(context, repository)}/actions/runs/${run.id}/job/${job.id}`
  return {
    url: `${url}/statuses/${status.id}`,
    id: status.id,
    node_id: `DES_${status.id}`,
    state: status.state === 'cancelled' ? 'error' : status.state,
    creator: simpleUser(context, creatorOf(context, deployment, status)),
    description: '',
    environment: environment.name,
    target_url: log_url,
    created_at: status.created_at,
    updated_at: status.created_at,
    deployment_url: url,
    repository_url: apiUrl(context, repository),
    environment_url: job?.environment_url ?? '',
    log_url,
    performed_via_github_app: run === null ? null : actionsApp(context),
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

export function environmentObject(context: RuleContext, repository: Repository, environment: Environment) {
  const { branches } = environment
  return {
    ...approvedEnvironment(context, repository, environment),
    can_admins_bypass: true,
    protection_rules: protectionRules(context, environment),
    deployment_branch_policy: branches === null ? null : { protected_branches: false, custom_branch_policies: true },
  }
}

type RuleContext = Urls & { app: App }

/** The ids of the rules are derived from that of the environment. */
function protectionRules(context: RuleContext, environment: Environment) {
  const { id, waitMinutes, reviewers, branches } = environment
  const rule = (offset: number, type: string) => ({ id: id * 100 + offset, node_id: `GA_${id * 100 + offset}`, type })
  const wait = waitMinutes === 0 ? [] : [{ ...rule(1, 'wait_timer'), wait_timer: waitMinutes }]
  const required = { ...rule(2, 'required_reviewers'), prevent_self_review: false }
  const reviews =
    reviewers.length === 0
      ? []
      : [{ ...required, reviewers: reviewers.map((reviewer) => reviewerObject(context, reviewer)) }]
  const policy = branches === null ? [] : [rule(3, 'branch_policy')]
  const custom = customRules(context, environment).map(({ app, ...shown }) => ({ ...shown, type: app.slug }))
  return [...wait, ...reviews, ...policy, ...custom]
}

/** The rules of our App and of others. */
export function customRules({ api, app }: RuleContext, { id, ours, apps }: Environment) {
  return [...(ours ? [app] : []), ...apps].map(({ id: appId, slug }, index) => ({
    id: id * 100 + 4 + index,
    node_id: `GA_${id * 100 + 4 + index}`,
    enabled: true,
    app: { id: appId, node_id: `A_${appId}`, slug, integration_url: `${api}/apps/${slug}` },
  }))
}

export function reviewerObject(urls: Urls, reviewer: Environment['reviewers'][number]) {
  if (reviewer.type === 'person') return { type: 'User', reviewer: simpleUser(urls, reviewer.account) }
  const { id, name } = reviewer
  const url = `${urls.api}/teams/${id}`
  const team = {
    id,
    node_id: `T_${id}`,
    name,
    slug: name,
    description: null,
    privacy: 'closed',
    notification_setting: 'notifications_enabled',
    permission: 'pull',
    type: 'organization',
    url,
    html_url: `${urls.html}/orgs/acme/teams/${name}`,
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    parent: null,
  }
  return { type: 'Team', reviewer: team }
}

/** An environment that a run waits for. */
export function pendingDeployment(urls: Urls, { repository, environment, created_at }: Deployment) {
  const { waitMinutes, reviewers } = environment
  return {
    environment: environmentName(urls, repository, environment),
    wait_timer: waitMinutes,
    wait_timer_started_at: waitMinutes === 0 ? null : created_at,
    current_user_can_approve: false,
    reviewers: reviewers.map((reviewer) => reviewerObject(urls, reviewer)),
  }
}
