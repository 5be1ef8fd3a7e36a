import { type Static, Type } from 'typebox'
import { StatedUrl } from '../ci/runs/run.schema.ts'
import { TRUST_CLASSES } from '../ci/runs/trust.ts'
import { DeployedSubject, Subjects } from '../ci/subjects/subject.schema.ts'
import { countFilter, definePageQuery, windowFilters } from '../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { MARK_LANES, MARKED_STATUSES } from './deployment-mark.ts'
import { ShownExposure } from './environments/environment.schema.ts'

export function defineNullableText(description: string) {
  return Nullable(Type.String({ description }))
}

const Gates = Type.Array(Type.String(), {
  description: 'The protection rules that this decision answers, such as `customRule`.',
})

/** The user or API key of an approval or override. */
const person = {
  user_id: defineNullableText('The id of the user. Null for an API key.'),
  email: defineNullableText('The email address of the user. Null for an API key.'),
  display_name: defineNullableText('The name of the user or of the API key.'),
}

/** A review on the code host. */
export const Review = Closed({
  reviewer: Type.String({ description: 'The login of the reviewer.' }),
  avatar_url: defineNullableText("The URL of the reviewer's avatar."),
  state: Type.String({ description: 'The state of the review.' }),
  comment: defineNullableText('The comment of the reviewer.'),
  reviewed_at: Nullable({ ...Timestamp, description: 'When the reviewer answered.' }),
})

/** An approval or rejection. */
export const Approval = Closed({
  ...person,
  decision: Type.String({ description: 'The decision: `approved` or `rejected`.' }),
  principal: Type.String({ description: 'The type of the principal that decided: `api_key` or `user`.' }),
  gates: Gates,
  provider_account: Nullable(
    Closed(
      {
        provider: Type.String({ description: 'The code host.' }),
        login: Type.String({ description: 'The login of the account.' }),
      },
      {
        description:
          "The user's account on the code host. Null for an API key and for a user without a linked account.",
      },
    ),
  ),
  at: { ...Timestamp, description: 'When the decision was made.' },
  note: defineNullableText('The reason and the comment. Null if neither was given.'),
  self_approved: Type.Optional(
    Type.Boolean({
      description: 'Whether who opened the deployment approved it with this answer. Absent in older answers.',
    }),
  ),
  blocked: Type.Optional(
    Type.Boolean({
      description:
        'True if a policy blocked the deployment when this was given. It can count later, when none does. Else absent.',
    }),
  ),
})

export const Bypass = Closed(
  {
    at: { ...Timestamp, description: 'When the protection rules were bypassed.' },
    from: Type.String({ description: 'The status before the bypass.' }),
    to: Type.String({ description: 'The status after the bypass.' }),
    actor: defineNullableText('The login of the person or bot that bypassed the protection rules.'),
    gates: Gates,
    policies: Type.Array(Type.String(), { description: 'The names of the policies that were bypassed.' }),
  },
  { description: 'The bypass of the protection rules on the code host. Null if they were not bypassed.' },
)

const policy = {
  id: Type.String({ description: 'The id of the policy.' }),
  name: Type.String({ description: 'The name of the policy.' }),
  version: Type.Integer({ description: 'The version of the policy that was evaluated.' }),
}
const PolicyDecision = Type.String({
  description: 'The decision of the policy: `approve`, `block`, or `warn` if it does neither.',
})

const OverriddenRule = Closed({
  rule: Type.String({ description: 'The id of the rule within its policy.' }),
  name: defineNullableText('The display name of the rule.'),
  status: Type.String({ description: 'The result of the rule: `fail` or `error`.' }),
  reason: defineNullableText('The reason why the rule did not pass.'),
})

export const Override = Closed(
  {
    at: { ...Timestamp, description: 'When the policies were overridden.' },
    ...person,
    reason: Type.String({ description: 'The reason for the override.' }),
    self_override: Type.Boolean({
      description:
        'Whether the principal that overrode the policies also opened the deployment or created its run, or the person who created that principal did.',
    }),
    with: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The names of the others who had approved before. Absent if nobody had.',
      }),
    ),
    gates: Gates,
    evaluation_id: defineNullableText('The id of the evaluation that was overridden.'),
    evaluated_at: Nullable({ ...Timestamp, description: 'When the policies were evaluated.' }),
    policies: Type.Array(
      Closed({
        ...policy,
        decision: PolicyDecision,
        rules: Type.Array(OverriddenRule, { description: 'The rules that did not pass.' }),
      }),
      {
        description: 'The policies that were overridden.',
      },
    ),
  },
  { description: 'The approval that overrode a blocking policy. Null if no policy was overridden.' },
)

/** Why an earlier version of a policy still decides. */
export const EarlierVersion = Closed(
  {
    replaced_at: Type.Unsafe<Date>({
      ...Timestamp,
      description: 'When the version was replaced or the policy removed.',
    }),
    asked_until: Nullable(
      Type.Unsafe<Date>({
        ...Timestamp,
        description:
          'Until when it is asked: for 24 hours after the change. Null if the deployment was opened before the change, and asks it as long as it waits.',
      }),
    ),
  },
  {
    description:
      'Why the version is asked although it was replaced or removed: it says worse than the version of now, and nobody loosens a policy for what is about to be deployed. Absent for the version of now.',
  },
)

export const PolicyEvaluation = Closed(
  {
    evaluation_id: Type.String({ description: 'The id of the evaluation.' }),
    at: { ...Timestamp, description: 'When the policies were evaluated.' },
    decision: Type.String({
      description:
        'The decision of all policies: `block`, `approve` if a policy of the organization approves, or `none`. Gates say which policies approve them.',
    }),
    answered: defineNullableText(
      "The answer that the service's own protection rule received: `approved` or `rejected`. Null while it is pending.",
    ),
    policies: Type.Array(
      Closed({
        ...policy,
        mode: OneOf(['monitor', 'enforce'], {
          description: '`enforce` can block a deployment. `monitor` only reports.',
        }),
        path: Type.Optional(
          defineNullableText(
            'The file of the repository that has the policy, which can only block. Null for a policy of the organization. Absent in older evaluations.',
          ),
        ),
        decision: PolicyDecision,
        earlier: Type.Optional(EarlierVersion),
      }),
      {
        description: 'The decision of each policy. An earlier version that says worse has a decision of its own.',
      },
    ),
  },
  {
    description: 'The latest evaluation of the policies that cover the deployment. Null if they were never evaluated.',
  },
)

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

const DeploymentStatus = OneOf(DEPLOYMENT_STATUSES, { description: 'The status of the deployment.' })
export type DeploymentStatus = Static<typeof DeploymentStatus>

/**
 * What can hold a deployment that has not gone on. `customRule`: the service's own rule.
 * `external_custom_rules`: the rules of other Apps. `protection_rules`: the rules could not be read
 * yet, so that others can hold it.
 */
export const AWAITED = [
  'customRule',
  'required_reviewers',
  'wait_timer',
  'external_custom_rules',
  'protection_rules',
] as const
export type Awaited = (typeof AWAITED)[number]

/** A name to compare with. PostgreSQL text can contain any character except U+0000. */
function exactName(maxLength: number, description: string) {
  return Type.Optional(Type.String({ maxLength, pattern: '^[^\\u0000]+$', description }))
}

export const DeploymentQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  status: Type.Optional(OneOf(DEPLOYMENT_STATUSES, { description: 'Return only deployments with this status.' })),
  environment: exactName(
    255,
    'Return only deployments to the environment with exactly this name, across all repositories and workflows.',
  ),
  repository: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^[^/\\u0000]+(?:/[^/\\u0000]+)+$',
      description: 'Return only deployments of the repository with exactly this name, as `owner/name`. Case-sensitive.',
    }),
  ),
  workflow: exactName(
    300,
    'Return only deployments of workflows with exactly this display name. Names are not unique. Combine it with `repository` or `workflow_path`.',
  ),
  workflow_path: exactName(500, 'Return only deployments of the workflow file with exactly this path.'),
  run_id: Type.Optional(Type.String({ ...ItemId, description: 'Return only deployments of the run with this id.' })),
  recovered: Type.Optional(
    Type.Boolean({
      description:
        'Return only deployments after which one from the same source has (`true`) or has not (`false`) succeeded for the repository and environment.',
    }),
  ),
  commit_sha: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{40,64}$',
      description: 'Return only deployments of the commit with this full SHA.',
    }),
  ),
  live: Type.Optional(
    Type.Boolean({
      description:
        'Return only deployments that run now, however old they are unless `since` is sent; with `false` only those that do not.',
    }),
  ),
})

/** Body of endLiveDeployment. */
export const LiveEnd = Closed({
  reason: Type.String({
    minLength: 3,
    maxLength: 500,
    pattern: '^[^\\u0000]+$',
    description: 'Why it no longer runs, for the audit log.',
  }),
})

export const DeploymentPath = Closed({
  id: Type.String({ ...ItemId, description: 'The id of the deployment.' }),
})

function time(description: string) {
  return Nullable(Type.String({ ...Timestamp, description }))
}

function names(description: string) {
  return Type.Array(Type.String(), { description })
}

const ExternalCustomRule = Closed({
  app_id: Type.String({ description: 'The id of the app on the code host.' }),
  slug: Type.String({ description: 'The slug of the app on the code host.' }),
})

const VERSION_CHARS_MAX = 200

/** Body of updateDeployment. */
export const DeploymentUpdate = Closed({
  status: Type.Optional(
    OneOf(MARKED_STATUSES, {
      description:
        'What the deployment has become. An approved one goes to `in_progress`, and then to `success`, `failure` or `cancelled`. One that waits for its approval can only be cancelled, which ends its gate.',
    }),
  ),
  version: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: VERSION_CHARS_MAX,
      pattern: '^[^\\u0000]+$',
      description: 'The version that is deployed. It is not shown in place of one that the code host has given.',
    }),
  ),
  url: Type.Optional(StatedUrl('The URL of what is deployed')),
  subjects: Type.Optional(
    Subjects(
      'What is deployed, by digest. Only if neither the gate nor the reports of the run name subjects. They are marked with `stated_after_decision`.',
    ),
  ),
})

/** What somebody has said of a deployment. */
const DeploymentMark = Closed({
  trust: OneOf(MARK_LANES, {
    description:
      'How far the statement can be trusted: that of an OIDC token is `verified` or `untrusted`, that of an API key `self_reported`, and that of a person `ui`.',
  }),
  status: Nullable(OneOf(MARKED_STATUSES, { description: 'The status that was stated. Null if none was.' })),
  version: defineNullableText('The version that was stated. Null if none was.'),
  url: defineNullableText('The URL of what is deployed that was stated. Null if none was.'),
  by: Closed(
    {
      type: Type.String({ description: 'The type of the credential: `api_key`, `oidc_trust` or `user`.' }),
      name: Type.String({ description: 'The name of the key or the trust, or the name and address of the person.' }),
    },
    { description: 'Who stated it.' },
  ),
  at: { ...Timestamp, description: 'When it was stated.' },
})

/** The deployment of one commit to one environment (specification, "Deployment"). */
export const Deployment = Closed(
  {
    id: Type.String({ description: 'The id of the deployment.' }),
    org_id: Type.String({ description: 'The id of the organization.' }),
    repository: Type.String({ description: 'The name of the repository without its owner.' }),
    repository_full_name: Type.String({ description: 'The repository as `owner/name`.' }),
    environment: Type.String({ description: 'The environment to deploy to.' }),
    status: DeploymentStatus,
    workflow_name: defineNullableText('The display name of the workflow or pipeline.'),
    workflow_path: defineNullableText('The path of the workflow file in the repository.'),
    provider: defineNullableText(
      'The code host of the repository. `other` for deployments that were created by opening a gate.',
    ),
    github_run_id: Nullable(Type.Integer({ description: 'The id of the workflow run on GitHub.' })),
    branch: defineNullableText(
      'The branch that is deployed, without `refs/heads/`. Null if the run has a tag or no ref.',
    ),
    commit_sha: Nullable(Type.String({ description: 'The commit that is deployed. Null if it is not known.' })),
    commit_message: defineNullableText('The message of the commit.'),
    release_name: defineNullableText('The name of the release.'),
    author: defineNullableText('The login of the person or bot that started the run.'),
    author_avatar_url: defineNullableText("The URL of the author's avatar."),
    version: defineNullableText(
      'The version that is deployed: the release of the run, or its tag, or what its deployer has stated.',
    ),
    required_reviewers: names('The logins of the reviewers that the code host requires.'),
    required_reviewer_teams: names('The names of the teams that the code host requires as reviewers.'),
    pipeline_run_id: defineNullableText('The id of the run that deploys.'),
    deployed_at: time('When the deployment succeeded. Null until then.'),
    rollback_at: time(
      'When an older commit was deployed to the environment in place of this deployment. Null unless it was.',
    ),
    callback_url: defineNullableText('The URL to which the decision is posted on the code host.'),
    html_url: defineNullableText('The URL of the run in its CI system.'),
    job_id: defineNullableText('The id of the job that deploys.'),
    environment_url: defineNullableText('The URL of the deployed environment.'),
    protection_rule_type: defineNullableText(
      "The first of `protection_rule_types`. `customRule` is the service's own protection rule.",
    ),
    protection_rule_types: names('The protection rules of the environment.'),
    gated: Type.Boolean({ description: 'Whether the deployment has protection rules.' }),
    reviewers_state: defineNullableText("The state of the code host's required reviewers. Null if it requires none."),
    custom_rule_state: defineNullableText(
      "The state of the service's own protection rule: `pending`, `approved`, `rejected`, `expired` or `cancelled`. Null if the deployment does not have this rule.",
    ),
    custom_rule_awaiting: defineNullableText(
      "Why the service's own protection rule holds the deployment: `manual_decision_required` while it is pending, or `decision_not_delivered` if the code host did not accept its decision. Otherwise null.",
    ),
    awaiting: Type.Array(OneOf(AWAITED), {
      description:
        "What a deployment with the status `pending_approval` still waits for: `customRule` (the service's own rule), " +
        '`required_reviewers`, `wait_timer`, `external_custom_rules` (the rules of other apps) and `protection_rules` ' +
        '(the rules could not be read yet). Code hosts do not report how timers and the rules of other apps have ended, ' +
        'so that these are named until the deployment goes on. Otherwise empty.',
    }),
    attempt: Type.Integer({ description: 'The attempt of the run that deploys.' }),
    previous_attempt_id: defineNullableText(
      'The id of the deployment of the previous attempt of the run, or of this attempt before its gate was opened again.',
    ),
    superseded_by_id: defineNullableText(
      'The id of the deployment that replaces this one: that of a higher attempt, that of this attempt whose gate was opened again, or the next successful deployment to the environment on a code host.',
    ),
    created_at: Type.String({ ...Timestamp, description: 'When the deployment was created.' }),
    updated_at: Type.String({ ...Timestamp, description: 'When the deployment was last updated.' }),
    reviews: Type.Array(Review, { description: 'Reviews on the code host.' }),
    approvals: Type.Array(Approval, { description: 'Approvals and rejections, oldest first.' }),
    external_custom_rules: Type.Array(ExternalCustomRule, {
      description: 'The protection rules of other apps on the code host.',
    }),
    bypass: Nullable(Bypass),
    override: Nullable(Override),
    self_approved: Type.Boolean({
      description:
        'Whether an approval that counted is by who opened the deployment: who wrote to its run, opened the gate, created one of these credentials, or started the run on the code host.',
    }),
    policy_evaluation: Nullable(PolicyEvaluation),
    live: Nullable(
      Closed({
        since: Type.String({ ...Timestamp, description: 'When it succeeded last.' }),
        slot: defineNullableText(
          'What deploys there: the path of the workflow file, or the job that opened the gate. Null if it is not known.',
        ),
        trust: OneOf(TRUST_CLASSES, { description: 'How far it can be trusted that it runs.' }),
        stale: Type.Boolean({
          description: 'Whether somebody who can be trusted more has stated a later deployment there.',
        }),
      }),
      {
        description: 'Set while the deployment runs: it succeeded last in its environment and slot, and has not ended.',
      },
    ),
    exposure: ShownExposure,
    subjects: Type.Optional(
      Type.Array(DeployedSubject, {
        description:
          'What is deployed, by digest: the subjects of the gate, or else those of the reports of the run, and what was stated later. Absent if nothing is known.',
      }),
    ),
    marks: Type.Optional(
      Type.Array(DeploymentMark, {
        description:
          'What credentials and people have said of the deployment, oldest first. Only statements with the trust of who opened its gate change the deployment. Absent if nobody has said anything.',
      }),
    ),
  },
  { $id: 'Deployment', description: 'The deployment of one commit to one environment.' },
)
