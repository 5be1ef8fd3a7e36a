import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { DEPLOYMENT_STATUSES } from './deployment.schema.ts'

const Text = (description: string) => Type.String({ description })
const Time = (description: string) => ({ ...Timestamp, description })

const Gate = Closed({
  id: Text('The id of the gate.'),
  name: Text('The name of the gate.'),
  required_approvals: Type.Integer({ minimum: 1, description: 'How many different principals must approve.' }),
  policies: Type.Array(Type.String(), { description: 'The names of the policies that the gate requires.' }),
  approved_at: Nullable(Time('When the gate was approved. Null if it was not.')),
  approved_by: Nullable(
    OneOf(['policies', 'principals'], {
      description: 'Whether passing policies or the approvals of principals approved the gate. Null if unknown.',
    }),
  ),
})

const Approval = Closed({
  decision: OneOf(['approved', 'rejected'], { description: 'The answer.' }),
  principal: Closed(
    {
      type: OneOf(['api_key', 'user'], { description: 'The type of the principal.' }),
      id: Text('The id of the API key or user.'),
      name: Text('The name of the API key or user.'),
    },
    { description: 'Who answered.' },
  ),
  reason: Text('The reason for the answer.'),
  comment: Nullable(Text('The comment of the answer.')),
  at: Time('When the answer was given.'),
})

const Review = Closed({
  reviewer: Text('The login of the reviewer.'),
  state: Text('The answer of the reviewer: `approved` or `rejected`.'),
  comment: Nullable(Text('The comment of the reviewer.')),
  at: Nullable(Time('When the reviewer answered.')),
})

const rule = {
  rule: Text('The id of the rule within its policy.'),
  status: OneOf(['pass', 'fail', 'warn', 'error'], {
    description: 'The result. `error` means that the rule could not be evaluated.',
  }),
  reason: Nullable(Text('The reason for the result.')),
}

const Rule = Closed({
  ...rule,
  name: Text('The display name of the rule.'),
  blocking: Type.Boolean({ description: 'Whether `fail` and `error` block when the policy is in `enforce`.' }),
})

const version = {
  id: Text('The id of the policy. The name of a required policy that does not exist.'),
  name: Text('The name of the policy.'),
  version: Type.Integer({ minimum: 0, description: 'The version that was evaluated. 0 if the policy does not exist.' }),
}
const Decision = OneOf(['approve', 'block', 'warn'], { description: 'The decision of the policy.' })

const Policy = Closed({
  ...version,
  sha256: Nullable(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'The SHA-256 checksum of the definition of this version. Null if the policy does not exist.',
    }),
  ),
  mode: OneOf(['monitor', 'enforce'], { description: '`enforce` can block a deployment. `monitor` only reports.' }),
  decision: Decision,
  rules: Nullable(
    Type.Array(Rule, { description: 'The results of the rules. Null if they were not stored at that time.' }),
  ),
})

const Evaluation = Closed(
  {
    evaluation_id: Text('The id of the evaluation.'),
    at: Time('When the policies were evaluated.'),
    decision: OneOf(['approve', 'block', 'none'], {
      description: 'The decision of all policies. `none` if no enforced policy covers the deployment.',
    }),
    answered: Nullable(Text('The result of the protection rule of Shiplock, such as `approved`. Null without one.')),
    policies: Type.Array(Policy, { description: 'The policies that were evaluated.' }),
  },
  { description: 'The last evaluation of the policies that cover the deployment. Null if there was none.' },
)

const Override = Closed(
  {
    by: Nullable(Text('The name of the user or API key.')),
    reason: Text('The reason for the override.'),
    self_override: Type.Boolean({
      description: 'Whether the credential that created the run also overrode the policies.',
    }),
    evaluation_id: Nullable(Text('The id of the evaluation that was overridden.')),
    at: Time('When the policies were overridden.'),
    policies: Type.Array(
      Closed({
        ...version,
        decision: Decision,
        rules: Type.Array(Closed({ ...rule, name: Nullable(Text('The display name of the rule.')) }), {
          description: 'The rules that did not pass.',
        }),
      }),
      { description: 'The policies that were overridden.' },
    ),
  },
  { description: 'The approval that overrode a blocking policy. Null if there was none.' },
)

const Bypass = Closed(
  {
    at: Time('When the protection rules were bypassed.'),
    from: Text('The status before the bypass.'),
    to: Text('The status after the bypass.'),
    actor: Nullable(Text('The login of the account that bypassed the protection rules.')),
    gates: Type.Array(Type.String(), {
      description: 'The rules that were bypassed. `customRule` is the protection rule of Shiplock.',
    }),
    policies: Type.Array(Type.String(), { description: 'The names of the policies that were bypassed.' }),
  },
  { description: 'The bypass of protection rules on the code host. Null if there was none.' },
)

/** A deployment as one step of a promotion path. Times are formatted as in the API. */
export const PromotionStep = Closed(
  {
    id: Text('The id of the deployment.'),
    trust: OneOf(['self_reported', 'verified'], {
      description: '`verified` by the code host, or `self_reported` through the API.',
    }),
    environment: Text('The name of the environment.'),
    status: OneOf(DEPLOYMENT_STATUSES, { description: 'The status of the deployment.' }),
    run: Nullable(
      Closed(
        { id: Text('The id of the run.'), attempt: Type.Integer({ minimum: 1, description: 'The attempt.' }) },
        { description: 'The run that deployed. Null if it is unknown.' },
      ),
    ),
    workflow: Nullable(Text('The name of the workflow or pipeline.')),
    branch: Nullable(Text('The branch that was deployed.')),
    author: Nullable(Text('The account that started the run.')),
    protection_rules: Type.Array(Type.String(), {
      description: 'The types of the protection rules of the environment. `customRule` is the rule of Shiplock.',
    }),
    required_reviewers: Type.Array(Type.String(), { description: 'The logins of the reviewers of the environment.' }),
    required_reviewer_teams: Type.Array(Type.String(), { description: 'The reviewing teams of the environment.' }),
    gates: Type.Array(Gate, { description: 'The gates of Shiplock that the deployment required.' }),
    approvals: Type.Array(Approval, { description: 'The answers of users and API keys, oldest first.' }),
    reviews: Type.Array(Review, { description: 'The reviews on the code host, oldest first.' }),
    policies: Nullable(Evaluation),
    override: Nullable(Override),
    bypass: Nullable(Bypass),
    self_approved: Type.Optional(
      Type.Boolean({ description: 'True if who opened the deployment approved it. Absent otherwise.' }),
    ),
    created_at: Time('When the deployment was created.'),
    deployed_at: Nullable(Time('When the deployment succeeded. Null if it did not.')),
    rolled_back_at: Nullable(Time('When an older commit replaced this one. Null if none did.')),
  },
  { description: 'A deployment of the commit.' },
)
export type PromotionStep = Static<typeof PromotionStep>
