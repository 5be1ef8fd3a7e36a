import { type Static, Type } from 'typebox'
import { pageQuery, windowFilters } from '../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { Approval, Bypass, nullableText, Override, PolicyEvaluation, Review } from './deployment-decision.schema.ts'

export const DEPLOYMENT_STATUSES = [
  'pending_approval',
  'approved',
  'rejected',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'expired',
  'rolled_back',
] as const

export const DeploymentStatus = OneOf(DEPLOYMENT_STATUSES)
export type DeploymentStatus = Static<typeof DeploymentStatus>

/** A name to compare with. PostgreSQL text can contain any character except U+0000. */
function exactName(maxLength: number, description: string) {
  return Type.Optional(Type.String({ maxLength, pattern: '^[^\\u0000]+$', description }))
}

export const DeploymentQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(OneOf(DEPLOYMENT_STATUSES, { description: 'Only deployments with this status.' })),
  environment: exactName(100, 'Exact environment name, across all repositories and workflows.'),
  repository: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^[^/\\u0000]+(?:/[^/\\u0000]+)+$',
      description: 'Exact repository name as `owner/repo`. Case-sensitive.',
    }),
  ),
  workflow: exactName(
    300,
    'Exact display name of the workflow. Names are not unique: combine it with `repository` or `workflow_path`.',
  ),
  workflow_path: exactName(500, 'Exact path of the workflow file.'),
})

export const DeploymentPath = Closed({
  id: Type.String({ ...ItemId, description: 'Deployment id.' }),
})

function time(description: string) {
  return Nullable(Type.String({ ...Timestamp, description }))
}

function names(description: string) {
  return Type.Array(Type.String(), { description })
}

const ExternalCustomRule = Closed({
  app_id: Type.String({ description: 'Id of the app on the code host.' }),
  slug: Type.String({ description: 'URL name of the app on the code host.' }),
})

/** The deployment of one commit to one environment (specification, "Deployment"). */
export const Deployment = Closed(
  {
    id: Type.String(),
    org_id: Type.String({ description: 'Organization that the deployment belongs to.' }),
    repository: Type.String({ description: 'Repository name without its owner.' }),
    repository_full_name: Type.String({ description: 'Repository name as `owner/repo`.' }),
    environment: Type.String({ description: 'Environment that is deployed to.' }),
    status: DeploymentStatus,
    workflow_name: nullableText('Display name of the workflow or pipeline.'),
    workflow_path: nullableText('Path of the workflow file.'),
    provider: nullableText('Code host of the deployment; `other` for deployments created by opening a gate.'),
    github_run_id: Nullable(Type.Integer({ description: 'Id of the workflow run on GitHub.' })),
    branch: nullableText("Branch that is deployed; null when the run's ref is a tag or missing."),
    commit_sha: Type.String({ description: 'Commit that is deployed.' }),
    commit_message: nullableText('Message of the commit.'),
    release_name: nullableText('Name of the release.'),
    author: nullableText('Login of the person or bot that started the run.'),
    author_avatar_url: nullableText("URL of the author's avatar."),
    version: nullableText('Version that is deployed.'),
    required_reviewers: names('Logins of the reviewers that the code host requires.'),
    required_reviewer_teams: names('Teams whose members the code host requires as reviewers.'),
    pipeline_run_id: nullableText('Id of the run that deploys.'),
    deployed_at: time('When the deployment succeeded.'),
    rollback_at: time('When the deployment was rolled back.'),
    callback_url: nullableText('URL at which the code host receives the decision.'),
    html_url: nullableText('URL of the run in the CI system.'),
    job_id: nullableText('Job that deploys.'),
    environment_url: nullableText('URL of the deployed environment.'),
    protection_rule_type: nullableText(
      "First of `protection_rule_types`; `customRule` is the service's own protection rule.",
    ),
    protection_rule_types: names('Protection rules of the environment.'),
    gated: Type.Boolean({ description: 'True if the deployment has protection rules.' }),
    reviewers_state: nullableText("State of the code host's required reviewers; null when it requires none."),
    custom_rule_state: nullableText(
      "State of the service's own protection rule: `pending`, `approved`, `rejected`, `expired` or `cancelled`.",
    ),
    custom_rule_awaiting: nullableText(
      "What the service's own protection rule waits for, for example `manual_decision_required`.",
    ),
    attempt: Type.Integer({ description: 'Attempt of the run that deploys.' }),
    previous_attempt_id: nullableText('Deployment of the previous attempt of the same run.'),
    superseded_by_id: nullableText('Deployment of a higher attempt that replaces this one.'),
    created_at: Timestamp,
    updated_at: Timestamp,
    reviews: Type.Array(Review, { description: 'Reviews on the code host.' }),
    approvals: Type.Array(Approval, { description: 'Approvals and rejections, oldest first.' }),
    external_custom_rules: Type.Array(ExternalCustomRule, {
      description: 'Protection rules of other apps on the code host.',
    }),
    bypass: Nullable(Bypass),
    override: Nullable(Override),
    policy_evaluation: Nullable(PolicyEvaluation),
  },
  { $id: 'Deployment' },
)
