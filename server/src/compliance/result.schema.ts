import { type Static, Type } from 'typebox'
import { pageQuery, windowFilters } from '../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'

const ResultStatus = OneOf(['passing', 'failing', 'warning', 'not_evaluated'])
export type ResultStatus = Static<typeof ResultStatus>

export const ResultQuery = pageQuery(100, 50, { ...windowFilters, status: Type.Optional(ResultStatus) })

const RuleResult = Closed({
  rule: Type.String(),
  result: OneOf(['pass', 'fail', 'warn', 'error']),
  evidence: Nullable(Type.String()),
})

/** The newest verdict of one policy on one repository (specification, "Compliance result"). */
export const ComplianceResult = Closed(
  {
    id: Type.String(),
    org_id: Type.String(),
    policy_id: Type.String(),
    policy_name: Type.String(),
    status: ResultStatus,
    details: Type.Array(RuleResult),
    repository: Type.String(),
    evaluated_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'ComplianceResult' },
)
