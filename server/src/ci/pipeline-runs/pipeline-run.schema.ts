import { Type } from 'typebox'
import { countFilter, definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from '../runs/run-status.ts'

const Text = (description?: string) => Nullable(Type.String(description === undefined ? {} : { description }))
const Whole = (description?: string) => Nullable(Type.Integer(description === undefined ? {} : { description }))
const CompletedAt = Nullable({ ...Timestamp, description: 'When the attempt finished. Null until then.' })
const DurationSeconds = Whole('The number of whole seconds from `started_at` to `completed_at`.')

export const PipelineRunQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  status: Type.Optional(OneOf(RUN_STATUSES, { description: 'Return only runs with this status.' })),
  repository: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^[^/\\u0000]+(?:/[^/\\u0000]+)+$',
      description: 'Return only runs of the repository with exactly this name, as `owner/name`. Case-sensitive.',
    }),
  ),
  branch: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^(?!refs/(?!heads/.))[^\\u0000]+$',
      description:
        'Return only runs of the branch with exactly this name, with or without `refs/heads/`. Requires `repository`.',
    }),
  ),
  recovered: Type.Optional(
    Type.Boolean({
      description:
        'Return only runs whose pipeline has (`true`) or has not (`false`) succeeded since on the same branch. A run with less trust changes nothing.',
    }),
  ),
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
    kind: Type.String({
      description:
        'The kind of the event. For runs of code hosts: `push`, `pull_request`, `schedule`, `manual`, `release`, `workflow` or `other`.',
    }),
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
    commit_sha: Text('The full SHA of the commit. Null if the run was created by an OIDC token that does not name it.'),
    commit_message: Text('The message of the commit.'),
    release_name: Text('The name of the release.'),
    author_id: Whole('The id of the author of the commit on the code host.'),
    author_login: Text('The login of the author of the commit, or of the actor if the author has no account.'),
    author_avatar_url: Text("The URL of the author's avatar."),
    event_type: Type.String({ description: 'The type of the event that started the run, such as `push`.' }),
    started_at: { ...Timestamp, description: 'When the newest attempt started.' },
    completed_at: CompletedAt,
    duration_seconds: DurationSeconds,
    html_url: Text('The URL of the run in its CI system.'),
    job_dependencies: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'The names of the jobs that each job depends on, by the name of the job in the workflow file.',
    }),
    run_number: Whole('The number of the run in its workflow.'),
    run_attempt: Type.Integer({ description: 'The number of the newest attempt.' }),
    attempts: Type.Array(Attempt, { description: 'Every attempt, oldest first.' }),
    trigger: Trigger,
    actor_login: Text(
      'The login of the user who caused the run. For a run that no connected code host knows, who started the newest attempt.',
    ),
    actor_name: Text('The display name of the user who caused the run.'),
    actor_avatar_url: Text("The URL of the user's avatar."),
    actor_url: Text('The URL of the user on the code host.'),
    importance_score: Nullable(
      Type.Number({
        description:
          'How important the run is, from 0 to 1. Null until the run has finished, and unless it comes from a connected code host.',
      }),
    ),
    anomaly_reasons: Type.Array(Type.String(), {
      description:
        'The reasons why the run is unusual: `slower_than_usual`, `first_failure_after_success`, `new_actor`, `unusual_hour`.',
    }),
    failure_category: Text(
      'The category of the failure: `test`, `build`, `lint`, `dependency`, `timeout`, `infrastructure`, `cancelled` or `unknown`. Null unless the newest attempt failed.',
    ),
    failure_excerpt: Text('The last log lines of the step that failed, at most 2,000 characters. Secrets are masked.'),
    failure_recurrence: Whole(
      'The number of failures in a row of this workflow, branch and category. 1 for the first failure.',
    ),
    azure: Nullable(Azure),
    ci_system: Text('The CI system, such as `buildkite`. Null unless the run was created through this API.'),
    ci_instance: Type.Optional(
      Type.String({ description: 'The CI server or organization, as host and path. Absent if nobody has named it.' }),
    ),
    trust: Type.String({
      description:
        'The trust level: `verified` for runs of connected code hosts and runs created by their own OIDC token, `untrusted` if code of strangers may have run in that job, `self_reported` for other runs created through this API.',
    }),
    stands_beside: Type.Optional(
      Type.String({
        description:
          'The id of the most trustworthy run with the same CI system and id that credentials of another trust level have reported, or of the run of the connected code host. Absent if there is none, and in lists.',
      }),
    ),
    created_at: { ...Timestamp, description: 'When the run was created.' },
    updated_at: { ...Timestamp, description: 'When the run was last updated.' },
  },
  {
    $id: 'PipelineRun',
    description:
      'A pipeline run of any source, with all its attempts. Fields that the source does not provide are null or empty.',
  },
)

export const RunJob = Closed(
  {
    id: Type.String({ description: 'The id of the job on the code host.' }),
    attempt: Type.Integer({ description: 'The attempt that the job belongs to.' }),
    name: Type.String({ description: 'The name of the job, with its matrix values, as the code host shows it.' }),
    status: OneOf(RUN_STATUSES, { description: 'The status of the job.' }),
    started_at: Nullable({ ...Timestamp, description: 'When the job started. Null until then.' }),
    completed_at: Nullable({ ...Timestamp, description: 'When the job finished. Null until then.' }),
    duration_seconds: Nullable(
      Type.Integer({ description: 'The number of whole seconds from `started_at` to `completed_at`.' }),
    ),
    html_url: Nullable(Type.String({ description: 'The URL of the job on the code host.' })),
  },
  { $id: 'RunJob', description: 'A job of one attempt of a run, as its code host reports it.' },
)

export const RunJobQuery = Closed({
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999,
      description: 'The attempt whose jobs are returned. Defaults to the newest one with jobs.',
    }),
  ),
})
