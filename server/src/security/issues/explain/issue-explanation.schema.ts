import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../../platform/ids.ts'
import { FINDING_KINDS, GROUPING_CODES, ISSUE_STATUSES } from '../../vocabulary/finding.ts'
import { MATCHED } from '../grouping/links.ts'
import { REJECTION_CODES } from './rejection.ts'

const text = (description: string) => Nullable(Type.String(), { description })
const line = (description: string) => Nullable(Type.Integer(), { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const time = (description: string) => Type.String({ ...Timestamp, description })

export const IssuePath = Closed({
  id: Type.String({
    pattern: UUID_PATTERN,
    description: 'Id of the issue.',
  }),
})

const Facts = Closed(
  {
    kind: OneOf(FINDING_KINDS, { description: 'Kind of the finding.' }),
    path: text('Path of the file in the repository.'),
    start_line: line('First line of the finding.'),
    end_line: line('Last line of the finding.'),
    package_name: text('Name of the package.'),
    purl: text('Package URL of the package.'),
    vuln_ids: Type.Array(Type.String(), { description: 'Ids of the vulnerability, as the scanner reports them.' }),
    cwes: Type.Array(Type.String(), { description: 'CWE ids of the weakness.' }),
    rule_id: text("The scanner's id of the rule."),
    secret_type: text('Type of the secret.'),
    resource_name: text('Name of the cloud resource.'),
  },
  { description: 'The fields of the finding that the rules compare. Hashes are left out.' },
)

const Reported = {
  finding_id: Type.String({ description: 'Id of the finding.' }),
  scanner: Type.String({ description: 'Name of the scanner.' }),
  source: Type.String({ description: 'Format of the report.' }),
  category: text('Category of the report.'),
  git_ref: text('Git ref of the report.'),
  facts: Facts,
}

const AliasPathStep = Closed({
  from: Type.String({ description: 'The id before this step.' }),
  to: Type.String({ description: 'The id after this step.' }),
  source: Type.String({
    description:
      'Source that lists the two ids as aliases, such as `osv`; `name` if they differ only by the prefix of a distribution.',
  }),
})

const Match = Closed({
  code: OneOf(GROUPING_CODES, { description: 'The rule that matches.' }),
  detail: Type.String({ description: 'A sentence that states the match.' }),
  on: OneOf(MATCHED, { description: 'What the findings have in common.' }),
  value: text('The value that they have in common. Null for fingerprints and secrets, which are not shown.'),
  alias_path: Type.Array(AliasPathStep, {
    description: 'Shortest path of aliases from an id that the finding names to `value`. Empty if it names `value`.',
  }),
  with: Type.Array(Type.String(), { description: 'Ids of the other findings that match, at most 20.' }),
  with_count: count('Number of other findings that match.'),
})

const Member = Closed({
  ...Reported,
  reason: Closed(
    {
      code: OneOf(GROUPING_CODES, { description: 'The first rule that matched.' }),
      detail: Type.String({ description: 'A sentence that states the match.' }),
      at: time('When the finding was grouped.'),
    },
    { description: 'The stored reason, which is also the `grouping_reason` of the finding.' },
  ),
  matches: Type.Array(Match, { description: 'All rules that match now, in order. The first one is the reason.' }),
})

const Rejected = Closed({
  ...Reported,
  issue_id: Type.String({ description: 'Id of the issue that the finding belongs to.' }),
  code: OneOf(REJECTION_CODES, { description: 'What differs.' }),
  detail: Type.String({ description: 'A sentence that states the difference.' }),
})

const Event = Closed({
  event: OneOf(['merged', 'split'], {
    description: '`merged`: the issue was merged into the other issue. `split`: it was split from the other issue.',
  }),
  issue_id: Type.String({ description: 'Id of the issue that was merged, or that was created by the split.' }),
  other_issue_id: Type.String({ description: 'Id of the other issue.' }),
  detail: Type.String({ description: 'A sentence that gives the reason.' }),
  at: time('When the event happened.'),
})

/** Our own endpoint: it is not part of the specification. */
export const IssueExplanation = Closed(
  {
    issue_id: Type.String({ description: 'Id of the issue.' }),
    status: OneOf(ISSUE_STATUSES, { description: 'Status of the issue.' }),
    split_from: text('Id of the issue that this issue was split from.'),
    merged_into: text('Id of the issue that this issue was merged into.'),
    is_current: Type.Boolean({
      description: 'False if the current rules and aliases would group the findings differently.',
    }),
    members: Type.Array(Member, { description: 'The findings of the issue, oldest first, at most 100.' }),
    member_count: count('Number of findings in the issue.'),
    rejected: Type.Array(Rejected, {
      description:
        'Findings of the same package, file or resource that belong to other issues, most similar first, at most 20.',
    }),
    rejected_count: count('Number of such findings.'),
    history: Type.Array(Event, { description: 'Merges and splits of the issue, newest first, at most 100.' }),
  },
  { $id: 'IssueExplanation', description: 'How an issue was grouped.' },
)
export type IssueExplanation = Static<typeof IssueExplanation>
