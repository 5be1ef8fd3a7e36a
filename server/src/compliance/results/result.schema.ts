import { Type } from 'typebox'
import { pageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts'

const RESULT_STATUSES = ['passing', 'failing', 'warning', 'not_evaluated'] as const
export type ResultStatus = (typeof RESULT_STATUSES)[number]

export const ResultQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(OneOf(RESULT_STATUSES, { description: 'Return only results with this status.' })),
})

const TIMESTAMP = { format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] }
const Text = (description: string) => Type.String({ description })
const Time = (description: string) => Type.String({ ...TIMESTAMP, description })

const RuleResult = Closed({
  rule: Text('Id of the rule within its policy.'),
  result: OneOf(['pass', 'fail', 'warn', 'error'], {
    description: '`error` means that the rule could not be evaluated.',
  }),
  evidence: Nullable(Text('The reason for the result and the values that it is based on.')),
})

/** The latest result of one policy for one repository (specification, "Compliance result"). */
export const ComplianceResult = Closed(
  {
    id: Text('Id of the result.'),
    org_id: Text('Id of the organization.'),
    policy_id: Text('Id of the policy.'),
    policy_name: Text('Name of the policy.'),
    status: OneOf(RESULT_STATUSES, {
      description:
        '`failing`: a blocking rule fails or cannot be evaluated. `warning`: another rule does not pass. `passing`: every rule passes. `not_evaluated`: no run and no security report of the repository is known.',
    }),
    details: Type.Array(RuleResult, { description: 'The result of each rule. Empty if not evaluated.' }),
    repository: Text('Repository as `host/owner/name`, or `owner/name` if its host is not known.'),
    evaluated_at: Nullable(Time('When the policy was last evaluated. Null if never.')),
    created_at: Time('When the result was first stored.'),
    updated_at: Time('When the result was last updated.'),
  },
  { $id: 'ComplianceResult', description: 'The latest result of one policy for one repository.' },
)
