import { Type } from 'typebox'
import { pageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from '../runs/run-status.ts'

const Text = (description?: string) => Nullable(Type.String(description === undefined ? {} : { description }))
const Whole = (description?: string) => Nullable(Type.Integer(description === undefined ? {} : { description }))
const CompletedAt = Nullable({ ...Timestamp, description: 'When the attempt finished. Null until then.' })
const DurationSeconds = Whole('The number of whole seconds from `started_at` to `completed_at`.')

export const PipelineRunQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(OneOf(RUN_STATUSES, { description: 'Return only runs with this status.' })),
})

export const PipelineRunPath = Closed({ id: { ...ItemId, description: 'The id of the run.' } })

const Attempt = Closed({
  number: Type.Integer({ description: 'The number of the attempt.' }),
  status: OneOf(RUN_STATUSES, { description: 'The status of the attempt.' }),
  started_at: { ...Timestamp, description: 'When the attempt started.' },
  completed_at: CompletedAt,
  duration_seconds: DurationSeconds,
  triggered_by: Text('The login or name of the user or service that started the attempt.'),
})

const PullRequest = (description: string) =>
  Nullable(
    Closed(
      {
        number: Type.Integer({ description: 'The number of the pull request.' }),
        url: Text('The URL of the pull request.'),
      },
      { description },
    ),
  )

const Trigger = Closed(
  {
    event: Type.String({ description: 'The event, as the source of the run names it.' }),
    kind: Type.String({ description: 'The kind of the event, such as `push`.' }),
    actor: Text('The user or service that caused the event.'),
    pull_request: PullRequest('The pull request that the run belongs to.'),
    merged_pull_request: PullRequest('The pull request whose merge started the run.'),
  },
  { description: 'The event that started the run.' },
)

const Azure = Closed(
  {
    orgName: Text('The name of the Azure DevOps organization.'),
    projectId: Text('The id of the project.'),
    repositoryId: Text('The id of the repository on the code host.'),
    repositoryType: Text('The type of the repository, as Azure DevOps names it.'),
    result: Text('The result of the run, as Azure DevOps names it.'),
  },
  { description: 'Additional fields of runs from Azure DevOps. Null for other runs.' },
)

/**
 * A run of any source (specification, "Pipeline run"). A field that the source has no value for is
 * null or empty.
 */
export const PipelineRun = Closed(
  {
    id: Type.String({ description: 'The id of the run.' }),
    provider: Type.String({ description: 'The source of the run. `other` for runs created through this API.' }),
    sso_organization_id: Text('The id of the organization at the identity provider.'),
    github_run_id: Whole('The id of the workflow run on GitHub.'),
    workflow_name: Type.String({ description: 'The name of the workflow or pipeline.' }),
    workflow_path: Text('The path of the workflow file in the repository.'),
    status: OneOf(RUN_STATUSES, { description: 'The status of the newest attempt.' }),
    repository_id: Whole('The id of the repository on the code host.'),
    repository_name: Type.String({ description: 'The name of the repository without its owner.' }),
    repository_full_name: Type.String({ description: 'The repository as `owner/name`.' }),
    repository_owner_id: Whole('The id of the owner of the repository on the code host.'),
    repository_owner_login: Type.String({ description: 'The login of the owner of the repository.' }),
    branch: Text('The branch, without `refs/heads/`. Null if the run has a tag or no ref.'),
    commit_sha: Type.String({ description: 'The full SHA of the commit.' }),
    commit_message: Text('The message of the commit.'),
    release_name: Text('The name of the release.'),
    author_id: Whole('The id of the author of the commit on the code host.'),
    author_login: Text('The login of the author of the commit.'),
    author_avatar_url: Text("The URL of the author's avatar."),
    event_type: Type.String({ description: 'The type of the event that started the run, such as `push`.' }),
    started_at: { ...Timestamp, description: 'When the newest attempt started.' },
    completed_at: CompletedAt,
    duration_seconds: DurationSeconds,
    html_url: Text('The URL of the run in its CI system.'),
    job_dependencies: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'The names of the jobs that each job depends on, by the name of the job.',
    }),
    run_number: Whole('The number of the run in its workflow.'),
    run_attempt: Type.Integer({ description: 'The number of the newest attempt.' }),
    attempts: Type.Array(Attempt, { description: 'Every attempt, oldest first.' }),
    trigger: Trigger,
    actor_login: Text('The login or name of the user or service that started the newest attempt.'),
    actor_name: Text('The display name of the user who started the newest attempt.'),
    actor_avatar_url: Text("The URL of the user's avatar."),
    actor_url: Text('The URL of the user on the code host.'),
    importance_score: Nullable(
      Type.Number({ description: 'A score of how important the run is. Null if it was not computed.' }),
    ),
    anomaly_reasons: Type.Array(Type.String(), { description: 'The reasons why the run is unusual.' }),
    failure_category: Text('The category of the failure. Null unless the run failed.'),
    failure_excerpt: Text('An excerpt of the log that shows the failure.'),
    failure_recurrence: Whole('The number of times that this failure has occurred.'),
    azure: Nullable(Azure),
    ci_system: Text('The CI system, such as `buildkite`. Null unless the run was created through this API.'),
    trust: Type.String({ description: 'The trust level. `self_reported` for runs created through this API.' }),
    created_at: { ...Timestamp, description: 'When the run was created.' },
    updated_at: { ...Timestamp, description: 'When the run was last updated.' },
  },
  {
    $id: 'PipelineRun',
    description:
      'A pipeline run of any source, with all its attempts. Fields that the source does not provide are null or empty.',
  },
)
