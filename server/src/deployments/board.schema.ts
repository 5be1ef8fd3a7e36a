import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { DEPLOYMENT_STATUSES, defineNullableText } from './deployment.schema.ts'

export const DeploymentBoardQuery = Closed({
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      pattern: '^[^\\u0000]+$',
      description: 'Return only repositories whose name contains this text. Case-insensitive.',
    }),
  ),
})

const BoardDeployment = Closed(
  {
    id: Type.String({ description: 'The id of the deployment.' }),
    repository_full_name: Type.String({ description: 'The repository as `owner/name`.' }),
    environment: Type.String({ description: 'The environment.' }),
    status: OneOf(DEPLOYMENT_STATUSES, { description: 'The status of the deployment.' }),
    custom_rule_state: defineNullableText("The state of the service's own protection rule. Null without one."),
    reviewers_state: defineNullableText("The state of the code host's required reviewers. Null if it requires none."),
    policy_decision: defineNullableText(
      'The latest decision of the policies: `approve`, `block` or `none`. Null if they were never evaluated.',
    ),
    bypassed: Type.Boolean({ description: 'Whether protection rules were bypassed on the code host.' }),
    version: defineNullableText('The version: the release of the run, or its tag.'),
    branch: defineNullableText('The branch, without `refs/heads/`.'),
    commit_sha: defineNullableText('The commit. Null if it is not known.'),
    commit_message: defineNullableText('The first 200 characters of the message of the commit.'),
    author: defineNullableText('The login of the person or bot that started the run.'),
    deployed_at: Nullable(
      Type.String({ ...Timestamp, description: 'When the deployment succeeded. Null until then.' }),
    ),
    created_at: Type.String({ ...Timestamp, description: 'When the deployment was created.' }),
  },
  { description: 'A deployment on the board.' },
)
export type BoardDeployment = Static<typeof BoardDeployment>

const BoardCell = Closed({
  repository_full_name: Type.String({ description: 'The repository as `owner/name`.' }),
  environment: Type.String({ description: 'The environment.' }),
  running: Nullable(BoardDeployment, {
    description: 'What runs there: of what runs, the deployment that succeeded last. Null if nothing does.',
  }),
  beside: Type.Array(BoardDeployment, {
    description: 'What runs there as well: deployments by other workflows or jobs, or as stated by others. At most 20.',
  }),
  newer: Nullable(BoardDeployment, {
    description: 'The latest deployment, if it is not the running one. It waits, is in progress or did not succeed.',
  }),
})
export type BoardCell = Static<typeof BoardCell>

export const DeploymentBoard = Closed(
  {
    cells: Type.Array(BoardCell, {
      description: 'The repositories and environments with deployments, by name. At most 4,000.',
    }),
    waiting: Type.Array(BoardDeployment, {
      description: 'The deployments with the status `pending_approval`, longest waiting first. At most 200.',
    }),
    truncated: Type.Boolean({ description: 'Whether there are more cells than these. Use `search` to find them.' }),
  },
  { $id: 'DeploymentBoard', description: 'What runs where, and what waits.' },
)
