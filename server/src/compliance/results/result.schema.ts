import { Type } from 'typebox'
import { countFilter, definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts'

const RESULT_STATUSES = ['passing', 'failing', 'warning', 'not_evaluated'] as const
export type ResultStatus = (typeof RESULT_STATUSES)[number]

export const ResultQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  status: Type.Optional(OneOf(RESULT_STATUSES, { description: 'Return only results with this status.' })),
  policy_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Return only results of the policy with this id.' }),
  ),
  repository: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'Return only results of this repository, exactly as `repository` of a result names it.',
    }),
  ),
})

const TIMESTAMP = { format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] }
const Text = (description: string) => Type.String({ description })
const Time = (description: string) => Type.String({ ...TIMESTAMP, description })

const RuleResult = Closed({
  rule: Text('The id of the rule within its policy.'),
  result: OneOf(['pass', 'fail', 'warn', 'error'], {
    description: 'The result of the rule. `error` means that it could not be evaluated.',
  }),
  evidence: Nullable(Text('The reason for the result and the values that it is based on.')),
})

/** The latest result of one policy for one repository (specification, "Compliance result"). */
export const ComplianceResult = Closed(
  {
    id: Text('The id of the result.'),
    org_id: Text('The id of the organization.'),
    policy_id: Text('The id of the policy.'),
    policy_name: Text('The name of the policy.'),
    status: OneOf(RESULT_STATUSES, {
      description:
        '`failing` if a blocking rule fails or cannot be evaluated, `warning` if another rule does not pass, `passing` if every rule passes, `not_evaluated` if the repository has no run and no security report.',
    }),
    details: Type.Array(RuleResult, { description: 'The result of each rule. Empty if `status` is `not_evaluated`.' }),
    repository: Text('The repository as `host/owner/name`, or as `owner/name` if the host is not known.'),
    evaluated_at: Nullable(Time('When the policy was last evaluated. Null if it was never evaluated.')),
    created_at: Time('When the result was created.'),
    updated_at: Time('When the result was last updated.'),
  },
  { $id: 'ComplianceResult', description: 'The latest result of one policy for one repository.' },
)
