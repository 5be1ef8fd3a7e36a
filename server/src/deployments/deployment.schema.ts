import { type Static, Type } from 'typebox'
import { pageQuery, windowFilters } from '../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'

const Text = Nullable(Type.String())
const Time = Nullable(Timestamp)
const Names = Type.Array(Type.String())

export const DeploymentStatus = OneOf([
  'pending_approval',
  'approved',
  'rejected',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'expired',
  'rolled_back',
])
export type DeploymentStatus = Static<typeof DeploymentStatus>

/** A name to compare with. PostgreSQL's text takes any character but U+0000. */
function exactName(maxLength: number, description: string) {
  return Type.Optional(Type.String({ maxLength, pattern: '^[^\\u0000]+$', description }))
}

export const DeploymentQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(DeploymentStatus),
  environment: exactName(100, 'Exact name, across all repositories and workflows.'),
  repository: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^[^/\\u0000]+(?:/[^/\\u0000]+)+$',
      description: '`owner/repo`, exact spelling.',
    }),
  ),
  workflow: exactName(300, 'Exact display name. It is not unique: combine it with repository or workflow_path.'),
  workflow_path: exactName(500, "Path of the workflow's file."),
})

export const DeploymentPath = Closed({ id: ItemId })

const Review = Closed({
  reviewer: Type.String(),
  avatar_url: Text,
  state: Type.String(),
  comment: Text,
  reviewed_at: Time,
})

const Approval = Closed({
  user_id: Text,
  email: Text,
  display_name: Text,
  decision: Type.String(),
  principal: Type.String(),
  gates: Names,
  provider_account: Nullable(Closed({ provider: Type.String(), login: Type.String() })),
  at: Timestamp,
  note: Text,
})

const Bypass = Closed({
  at: Timestamp,
  from: Type.String(),
  to: Type.String(),
  actor: Text,
  gates: Names,
  policies: Names,
})

const OverriddenRule = Closed({ rule: Type.String(), name: Text, status: Type.String(), reason: Text })

const Override = Closed({
  at: Timestamp,
  user_id: Text,
  email: Text,
  display_name: Text,
  reason: Type.String(),
  self_override: Type.Boolean(),
  gates: Names,
  evaluation_id: Text,
  evaluated_at: Time,
  policies: Type.Array(
    Closed({
      id: Type.String(),
      name: Type.String(),
      version: Type.Integer(),
      decision: Type.String(),
      rules: Type.Array(OverriddenRule),
    }),
  ),
})

const PolicyEvaluation = Closed({
  evaluation_id: Type.String(),
  at: Timestamp,
  decision: Type.String(),
  answered: Text,
  policies: Type.Array(
    Closed({
      id: Type.String(),
      name: Type.String(),
      version: Type.Integer(),
      mode: OneOf(['monitor', 'enforce']),
      decision: Type.String(),
    }),
  ),
})

/** One commit on its way to one environment, and who let it out (specification, "Deployment"). */
export const Deployment = Closed(
  {
    id: Type.String(),
    org_id: Type.String(),
    repository: Type.String(),
    repository_full_name: Type.String(),
    environment: Type.String(),
    status: DeploymentStatus,
    workflow_name: Text,
    workflow_path: Text,
    provider: Text,
    github_run_id: Nullable(Type.Integer()),
    branch: Text,
    commit_sha: Type.String(),
    commit_message: Text,
    release_name: Text,
    author: Text,
    author_avatar_url: Text,
    version: Text,
    required_reviewers: Names,
    required_reviewer_teams: Names,
    pipeline_run_id: Text,
    deployed_at: Time,
    rollback_at: Time,
    callback_url: Text,
    html_url: Text,
    job_id: Text,
    environment_url: Text,
    protection_rule_type: Text,
    protection_rule_types: Names,
    gated: Type.Boolean(),
    reviewers_state: Text,
    custom_rule_state: Text,
    custom_rule_awaiting: Text,
    attempt: Type.Integer(),
    previous_attempt_id: Text,
    superseded_by_id: Text,
    created_at: Timestamp,
    updated_at: Timestamp,
    reviews: Type.Array(Review),
    approvals: Type.Array(Approval),
    external_custom_rules: Type.Array(Closed({ app_id: Type.String(), slug: Type.String() })),
    bypass: Nullable(Bypass),
    override: Nullable(Override),
    policy_evaluation: Nullable(PolicyEvaluation),
  },
  { $id: 'Deployment' },
)
