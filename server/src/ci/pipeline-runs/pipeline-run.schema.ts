import { Type } from 'typebox'
import { pageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from '../runs/run-status.ts'

const Text = Nullable(Type.String())
const Whole = Nullable(Type.Integer())
const Time = Nullable(Timestamp)

export const PipelineRunQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(OneOf(RUN_STATUSES)),
})

export const PipelineRunPath = Closed({ id: ItemId })

const Attempt = Closed({
  number: Type.Integer(),
  status: OneOf(RUN_STATUSES),
  started_at: Timestamp,
  completed_at: Time,
  duration_seconds: Whole,
  triggered_by: Text,
})

const PullRequest = Nullable(Closed({ number: Type.Integer(), url: Text }))

const Trigger = Closed({
  event: Type.String(),
  kind: Type.String(),
  actor: Text,
  pull_request: PullRequest,
  merged_pull_request: PullRequest,
})

const Azure = Closed({ orgName: Text, projectId: Text, repositoryId: Text, repositoryType: Text, result: Text })

/** A run of any source, those of providers and those pushed (specification, "Pipeline run"). Null where the source has no such fact. */
export const PipelineRun = Closed(
  {
    id: Type.String(),
    provider: Type.String(),
    sso_organization_id: Text,
    github_run_id: Whole,
    workflow_name: Type.String(),
    workflow_path: Text,
    status: OneOf(RUN_STATUSES),
    repository_id: Whole,
    repository_name: Type.String(),
    repository_full_name: Type.String(),
    repository_owner_id: Whole,
    repository_owner_login: Type.String(),
    branch: Text,
    commit_sha: Type.String(),
    commit_message: Text,
    release_name: Text,
    author_id: Whole,
    author_login: Text,
    author_avatar_url: Text,
    event_type: Type.String(),
    started_at: Timestamp,
    completed_at: Time,
    duration_seconds: Whole,
    html_url: Text,
    job_dependencies: Type.Record(Type.String(), Type.Array(Type.String())),
    run_number: Whole,
    run_attempt: Type.Integer(),
    attempts: Type.Array(Attempt),
    trigger: Trigger,
    actor_login: Text,
    actor_name: Text,
    actor_avatar_url: Text,
    actor_url: Text,
    importance_score: Nullable(Type.Number()),
    anomaly_reasons: Type.Array(Type.String()),
    failure_category: Text,
    failure_excerpt: Text,
    failure_recurrence: Whole,
    azure: Nullable(Azure),
    ci_system: Text,
    trust: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'PipelineRun' },
)
