import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts'
import { FINDING_KINDS } from '../../vocabulary/finding-kind.ts'
import { GROUPING_CODES } from '../grouping/grouping-facts.ts'
import { MATCHED } from '../grouping/links.ts'
import { REJECTION_CODES } from '../grouping/rejection.ts'
import { ISSUE_STATUSES } from '../issue.schema.ts'

const Text = Nullable(Type.String())
const Line = Nullable(Type.Integer())
const Count = Type.Integer({ minimum: 0 })

export const IssuePath = Closed({
  id: Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }),
})

const Reported = {
  finding_id: Type.String(),
  scanner: Type.String(),
  source: Type.String(),
  category: Text,
  git_ref: Text,
}

/** All of a finding that the rules look at, but for hashes. */
const Facts = Closed({
  kind: OneOf(FINDING_KINDS),
  path: Text,
  start_line: Line,
  end_line: Line,
  package_name: Text,
  purl: Text,
  vuln_ids: Type.Array(Type.String()),
  cwes: Type.Array(Type.String()),
  rule_id: Text,
  secret_type: Text,
  resource_name: Text,
})

const AliasPathStep = Closed({
  from: Type.String(),
  to: Type.String(),
  source: Type.String({ description: 'Who says that the two are one vulnerability; `name` where their names do.' }),
})

const Match = Closed({
  code: OneOf(GROUPING_CODES),
  detail: Type.String(),
  on: OneOf(MATCHED, { description: 'What is equal.' }),
  value: Nullable(Type.String({ description: 'Null for hashes.' })),
  alias_path: Type.Array(AliasPathStep, { description: 'From the id that the finding names to the value.' }),
  with: Type.Array(Type.String(), { description: 'Other findings that match, the first 20.' }),
  with_count: Count,
})

const Member = Closed({
  ...Reported,
  facts: Facts,
  reason: Closed({ code: OneOf(GROUPING_CODES), detail: Type.String(), at: Timestamp }),
  matches: Type.Array(Match, { description: 'Every rule that holds today, in the order in which they are asked.' }),
})

const Rejected = Closed({
  ...Reported,
  issue_id: Type.String(),
  facts: Facts,
  code: OneOf(REJECTION_CODES),
  detail: Type.String(),
})

const Event = Closed({
  event: OneOf(['merged', 'split']),
  issue_id: Type.String({ description: 'The one that ended or began.' }),
  other_issue_id: Type.String({ description: 'The one that its findings are of now, or were of before.' }),
  detail: Type.String(),
  at: Timestamp,
})

/** Why findings are one issue, and why others are not of it. Ours, not the specification's. */
export const IssueExplanation = Closed(
  {
    issue_id: Type.String(),
    status: OneOf(ISSUE_STATUSES),
    split_from: Text,
    merged_into: Text,
    is_current: Type.Boolean({
      description: 'False where the rules and aliases of today would group its findings otherwise.',
    }),
    members: Type.Array(Member, { description: 'The first 100, by age.' }),
    member_count: Count,
    rejected: Type.Array(Rejected, {
      description: 'Findings of the same package, file or resource that are not of the issue: the 20 nearest.',
    }),
    rejected_count: Count,
    history: Type.Array(Event, { description: 'The newest 100, newest first.' }),
  },
  { $id: 'IssueExplanation' },
)
export type IssueExplanation = Static<typeof IssueExplanation>
