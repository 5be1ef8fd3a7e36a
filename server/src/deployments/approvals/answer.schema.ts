import { type Static, Type } from 'typebox'
import { AskedEvidenceList } from '../../compliance/policies/asked-evidence.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { DEPLOYMENT_STATUSES, EarlierVersion } from '../deployment.schema.ts'
import { ApproveByPolicies } from '../gates/configured-gate.schema.ts'

/**
 * Body of approveDeployment and rejectDeployment. The length of the reason is checked by
 * `requireReason`.
 */
export const NewAnswer = Closed({
  reason: Type.Optional(
    Type.String({
      description:
        'The reason for the decision, 10 to 500 characters. An API key must send one. A person must send one to approve against a blocking policy.',
    }),
  ),
  comment: Type.Optional(Type.String({ maxLength: 1000, description: 'A comment in addition to the reason.' })),
})
export type NewAnswer = Static<typeof NewAnswer>

const Status = OneOf(DEPLOYMENT_STATUSES, {
  description: 'The status of the deployment. It stays `pending_approval` while other approvals are required.',
})

export const Approved = Closed({
  approved: Type.Literal(true, { description: 'The approval was recorded.' }),
  status: Status,
})
export const Rejected = Closed({
  rejected: Type.Literal(true, { description: 'The rejection was recorded.' }),
  status: Status,
})

const Text = (description: string) => Type.String({ description })
const Time = (description: string) => Nullable(Type.Unsafe<Date>({ ...Timestamp, description }))

const DecisionGate = Closed({
  id: Text('The id of the gate.'),
  name: Text('The name of the gate.'),
  required_approvals: Type.Integer({ minimum: 1, description: 'How many different people or keys must approve.' }),
  approvals: Type.Integer({ minimum: 0, description: 'How many have approved.' }),
  allow_api_keys: Type.Boolean({ description: 'Whether API keys can answer. If false, only people can.' }),
  allow_run_creator: Type.Boolean({ description: 'Whether who opened the deployment can approve it.' }),
  policies: Type.Array(Type.String(), { description: 'The names of the policies that the gate requires.' }),
  approve_by_policies: ApproveByPolicies,
  require_linked_accounts: Type.Boolean({ description: 'Whether people without a linked account are refused.' }),
  after_rejection: Type.Boolean({
    description: 'Whether the gate was opened again after a rejection, so that policies alone do not approve it.',
  }),
  replaced_at: Time(
    'When the gate was loosened or deleted, if it still decides as it was before: the deployment was opened before that, or within 24 hours after. Null if the settings of now decide.',
  ),
  approved_at: Time('When the gate was approved. Null if it was not.'),
  approved_by: Nullable(
    OneOf(['policies', 'principals'], {
      description: 'Whether passing policies or the approvals of principals approved the gate. Null if unknown.',
    }),
  ),
})
export type DecisionGate = Static<typeof DecisionGate>

const DecisionRule = Closed({
  rule: Text('The id of the rule within its policy.'),
  name: Text('The name of the rule.'),
  status: OneOf(['pass', 'fail', 'warn', 'error'], {
    description: 'The result. `error` means that the rule could not be evaluated.',
  }),
  blocking: Type.Boolean({ description: 'Whether `fail` and `error` block when the policy is in `enforce`.' }),
  reason: Nullable(Text('The reason for the result. Null if the rule states none.')),
  evidence: Nullable(Text('The values that the result is based on. Null if they were not stored.')),
  expression: Nullable(Text('The CEL expression of the rule. Null for rules in other languages.')),
})

const DecisionPolicy = Closed({
  id: Text('The id of the policy. The name of a required policy that does not exist.'),
  name: Text('The name of the policy.'),
  version: Type.Integer({ minimum: 0, description: 'The version that was evaluated. 0 if the policy does not exist.' }),
  mode: OneOf(['monitor', 'enforce'], { description: '`enforce` can block a deployment. `monitor` only reports.' }),
  path: Nullable(
    Text(
      'The file of the repository that has the policy, which can only block. Null for a policy of the organization.',
    ),
  ),
  decision: OneOf(['approve', 'block', 'warn'], { description: 'The decision of the policy. `warn`: neither.' }),
  earlier: Type.Optional(EarlierVersion),
  rules: Nullable(Type.Array(DecisionRule), { description: 'The results of the rules. Null if they were not stored.' }),
})
export type DecisionPolicy = Static<typeof DecisionPolicy>

const Opener = Closed(
  {
    type: OneOf(['api_key', 'oidc_trust', 'account'], {
      description: 'An API key or a CI job with a trust that opened the gate, or an account on the code host.',
    }),
    name: Text('The name of the key or trust, or the login of the account.'),
  },
  { description: 'Who opened the deployment. Null if it is not known.' },
)
export type Opener = Static<typeof Opener>

const HistoryEntry = Closed({
  at: Type.Unsafe<Date>({ ...Timestamp, description: 'When it was done.' }),
  action: Text('What was done, as in the audit log, such as `deployment.expire`.'),
  by: Text('The name of the policy, or `Shiplock`.'),
  principal: OneOf(['policy', 'system'], { description: 'Whether policies or Shiplock did it.' }),
  reason: Nullable(Text('The reason. Null if there is none.')),
})

const Refusal = Closed(
  {
    code: Text('The error code of the answer, such as `run_creator_refused`.'),
    message: Text('Why the answer is refused.'),
  },
  { description: 'Why the answer would be refused now. Null if it would be accepted with the right permission.' },
)
export type Refusal = Static<typeof Refusal>

export const DeploymentDecision = Closed(
  {
    answer_until: Time('When the deployment expires. Null if it does not wait, or waits without a limit.'),
    opened_by: Nullable(Opener),
    gates: Type.Array(DecisionGate, { description: 'The gates that the deployment requires.' }),
    policies: Type.Array(DecisionPolicy, { description: 'The latest evaluation of the policies, with their rules.' }),
    evidence: AskedEvidenceList,
    history: Type.Array(HistoryEntry, {
      description: 'What policies and Shiplock itself did to the deployment, oldest first.',
    }),
    refused: Closed(
      { approve: Nullable(Refusal), reject: Nullable(Refusal) },
      { description: 'Whether you can answer, apart from your permissions.' },
    ),
    unlinked_account: Type.Boolean({
      description:
        'Whether somebody started the run on a code host where your account is not linked, so that it is not known whether that was you.',
    }),
  },
  { $id: 'DeploymentDecision', description: 'What decides a deployment, and whether you can answer it.' },
)
export type DeploymentDecision = Static<typeof DeploymentDecision>
