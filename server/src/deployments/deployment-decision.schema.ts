import { Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'

export function nullableText(description: string) {
  return Nullable(Type.String({ description }))
}

const Gates = Type.Array(Type.String(), { description: 'Protection rules concerned, for example `customRule`.' })

/** The user or API key of an approval or override. */
const person = {
  user_id: nullableText('Id of the user; null for an API key.'),
  email: nullableText('Email address of the user; null for an API key.'),
  display_name: nullableText('Name of the user or of the API key.'),
}

/** A review on the code host. */
export const Review = Closed({
  reviewer: Type.String({ description: 'Login of the reviewer.' }),
  avatar_url: nullableText("URL of the reviewer's avatar."),
  state: Type.String({ description: 'State of the review.' }),
  comment: nullableText('Comment of the reviewer.'),
  reviewed_at: Nullable(Timestamp),
})

/** An approval or rejection. */
export const Approval = Closed({
  ...person,
  decision: Type.String({ description: '`approved` or `rejected`.' }),
  principal: Type.String({ description: 'Who decided: `api_key` or `user`.' }),
  gates: Gates,
  provider_account: Nullable(
    Closed(
      { provider: Type.String(), login: Type.String() },
      { description: "The user's account on the code host; null for an API key." },
    ),
  ),
  at: Timestamp,
  note: nullableText('Reason and comment.'),
})

export const Bypass = Closed(
  {
    at: Timestamp,
    from: Type.String({ description: 'Status before the bypass.' }),
    to: Type.String({ description: 'Status after the bypass.' }),
    actor: nullableText('Login of the person or bot that bypassed the protection rules.'),
    gates: Gates,
    policies: Type.Array(Type.String(), { description: 'Names of the policies that were bypassed.' }),
  },
  { description: 'Set when the deployment started on the code host without the decision of its protection rules.' },
)

const policy = {
  id: Type.String(),
  name: Type.String(),
  version: Type.Integer({ description: 'Version of the policy that was evaluated.' }),
}
const PolicyDecision = Type.String({ description: '`approve`, `block` or `warn`.' })

const OverriddenRule = Closed({
  rule: Type.String({ description: 'Rule id.' }),
  name: nullableText('Display name of the rule.'),
  status: Type.String({ description: '`fail` or `error`.' }),
  reason: nullableText('Why the rule did not pass.'),
})

export const Override = Closed(
  {
    at: Timestamp,
    ...person,
    reason: Type.String({ description: 'Why the policies were overridden.' }),
    self_override: Type.Boolean({
      description: 'True if the credential that reported the run also overrode the policies.',
    }),
    gates: Gates,
    evaluation_id: nullableText('Evaluation that was overridden.'),
    evaluated_at: Nullable(Timestamp),
    policies: Type.Array(Closed({ ...policy, decision: PolicyDecision, rules: Type.Array(OverriddenRule) }), {
      description: 'The blocking policies, with the rules that did not pass.',
    }),
  },
  { description: 'Set when the deployment was approved although a policy blocked it.' },
)

export const PolicyEvaluation = Closed(
  {
    evaluation_id: Type.String(),
    at: Timestamp,
    decision: Type.String({ description: '`approve`, `block`, or `none` when no policy is enforced.' }),
    answered: nullableText("How the service's own protection rule was answered afterwards; null while it is pending."),
    policies: Type.Array(Closed({ ...policy, mode: OneOf(['monitor', 'enforce']), decision: PolicyDecision })),
  },
  { description: 'Latest evaluation of the policies that cover the deployment.' },
)
