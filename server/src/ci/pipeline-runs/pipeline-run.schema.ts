import { Type } from 'typebox'
import { pageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from '../runs/run-status.ts'

const Text = (description?: string) => Nullable(Type.String(description === undefined ? {} : { description }))
const Whole = (description?: string) => Nullable(Type.Integer(description === undefined ? {} : { description }))
const CompletedAt = Nullable({ ...Timestamp, description: 'Null until the status is final.' })
const DurationSeconds = Whole('Whole seconds from `started_at` to `completed_at`.')

export const PipelineRunQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(OneOf(RUN_STATUSES, { description: 'Returns only runs with this status.' })),
})

export const PipelineRunPath = Closed({ id: { ...ItemId, description: 'The id of the run.' } })

const Attempt = Closed({
  number: Type.Integer(),
  status: OneOf(RUN_STATUSES),
  started_at: Timestamp,
  completed_at: CompletedAt,
  duration_seconds: DurationSeconds,
  triggered_by: Text('The login or name of whoever started the attempt.'),
})

const PullRequest = Nullable(Closed({ number: Type.Integer(), url: Text() }))

const Trigger = Closed(
  {
    event: Type.String({ description: 'The event, as the source names it.' }),
    kind: Type.String({ description: 'The kind of the event, such as `push`.' }),
    actor: Text(),
    pull_request: PullRequest,
    merged_pull_request: PullRequest,
  },
  { description: 'What started the run.' },
)

const Azure = Closed(
  { orgName: Text(), projectId: Text(), repositoryId: Text(), repositoryType: Text(), result: Text() },
  { description: 'Fields of runs from Azure DevOps.' },
)

/**
 * A run of any source (specification, "Pipeline run"). A field that the source has no value for is
 * null or empty.
 */
export const PipelineRun = Closed(
  {
    id: Type.String(),
    provider: Type.String({ description: 'The source of the run; `other` for runs created through the API.' }),
    sso_organization_id: Text('The id of the organization at the identity provider.'),
    github_run_id: Whole(),
    workflow_name: Type.String({ description: 'The name of the workflow or pipeline.' }),
    workflow_path: Text('The path of the workflow file in the repository.'),
    status: OneOf(RUN_STATUSES, { description: 'The status of the newest attempt.' }),
    repository_id: Whole("The provider's id of the repository."),
    repository_name: Type.String({ description: 'The name of the repository without its owner.' }),
    repository_full_name: Type.String({ description: '`owner/name`.' }),
    repository_owner_id: Whole(),
    repository_owner_login: Type.String(),
    branch: Text('The name of the branch, without `refs/heads/`. Null for a tag.'),
    commit_sha: Type.String(),
    commit_message: Text(),
    release_name: Text(),
    author_id: Whole("The provider's id of the author of the commit."),
    author_login: Text(),
    author_avatar_url: Text(),
    event_type: Type.String({ description: 'The event that started the run.' }),
    started_at: { ...Timestamp, description: 'When the newest attempt started.' },
    completed_at: CompletedAt,
    duration_seconds: DurationSeconds,
    html_url: Text('The page of the run in its CI system.'),
    job_dependencies: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'For each job, the names of the jobs that it needs.',
    }),
    run_number: Whole('The number of the run in its workflow.'),
    run_attempt: Type.Integer({ description: 'The number of the newest attempt.' }),
    attempts: Type.Array(Attempt, { description: 'Every attempt, oldest first.' }),
    trigger: Trigger,
    actor_login: Text('The login or name of whoever started the newest attempt.'),
    actor_name: Text(),
    actor_avatar_url: Text(),
    actor_url: Text(),
    importance_score: Nullable(Type.Number()),
    anomaly_reasons: Type.Array(Type.String()),
    failure_category: Text('The kind of failure, for a failed run.'),
    failure_excerpt: Text('The part of the log that shows the failure.'),
    failure_recurrence: Whole('How often this failure has occurred.'),
    azure: Nullable(Azure),
    ci_system: Text('The CI system of a run that was created through the API.'),
    trust: Type.String({ description: '`self_reported` for runs created through the API.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'PipelineRun' },
)
