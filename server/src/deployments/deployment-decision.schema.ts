import { Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'

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
const PolicyDecision = Type.String({ description: 'The decision of the policy: `approve`, `block` or `warn`.' })

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

export const PolicyEvaluation = Closed(
  {
    evaluation_id: Type.String({ description: 'The id of the evaluation.' }),
    at: { ...Timestamp, description: 'When the policies were evaluated.' },
    decision: Type.String({
      description:
        'The decision of all policies: `approve`, `block`, or `none` if no enforced policy covers the deployment.',
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
        decision: PolicyDecision,
      }),
      {
        description: 'The decision of each policy.',
      },
    ),
  },
  {
    description: 'The latest evaluation of the policies that cover the deployment. Null if they were never evaluated.',
  },
)
