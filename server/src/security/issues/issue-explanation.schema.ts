import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { FindingIdentity } from '../findings/finding.schema.ts'
import { FINDING_KINDS, FINDING_STATES, GROUPING_CODES, ISSUE_STATUSES } from '../vocabulary/finding.ts'
import { MATCHED } from './grouping/links.ts'
import { REJECTION_CODES } from './rejection.ts'

const text = (description: string) => Nullable(Type.String(), { description })
const line = (description: string) => Nullable(Type.Integer(), { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const time = (description: string) => Type.String({ ...Timestamp, description })

export const IssuePath = Closed({
  id: Type.String({
    pattern: UUID_PATTERN,
    description: 'The id of the issue.',
  }),
})

const Facts = Closed(
  {
    kind: OneOf(FINDING_KINDS, { description: 'The kind of the finding.' }),
    path: text('The path of the file, relative to the root of the repository.'),
    start_line: line('The first line of the finding.'),
    end_line: line('The last line of the finding.'),
    package_name: text('The name of the package.'),
    purl: text('The package URL of the package.'),
    vuln_ids: Type.Array(Type.String(), { description: 'The ids of the vulnerability, as the scanner reports them.' }),
    cwes: Type.Array(Type.String(), { description: 'The CWE ids of the weakness.' }),
    rule_id: text("The id of the scanner's rule."),
    secret_type: text('The type of the leaked secret.'),
    resource_name: text('The name of the affected resource, such as a cloud resource or an image.'),
  },
  { description: 'The fields of the finding that the grouping rules compare, without hashes.' },
)

const Reported = {
  finding_id: Type.String({ description: 'The id of the finding.' }),
  state: OneOf(FINDING_STATES, { description: 'The state of the finding.' }),
  scanner: Type.String({ description: 'The name of the scanner.' }),
  source: Type.String({ description: 'The format of the report.' }),
  category: text('The category of the report.'),
  git_ref: text('The branch or tag that was scanned.'),
  facts: Facts,
}

const AliasPathStep = Closed({
  from: Type.String({ description: 'The id before this step.' }),
  to: Type.String({ description: 'The id after this step.' }),
  source: Type.String({
    description:
      'The source that lists the two ids as aliases, such as `osv`. `name` if they differ only in the prefix of a distribution.',
  }),
})

const Match = Closed({
  code: OneOf(GROUPING_CODES, { description: 'The rule that matches.' }),
  detail: Type.String({ description: 'A sentence that states the match.' }),
  on: OneOf(MATCHED, {
    description:
      'The property that the findings have in common. `rule`, `fingerprint` and `weakness_and_code` are of one scanner or package. `secret` is the text of a secret, and `secret_and_lines` means that secrets are at overlapping lines. `weakness_and_lines` and `weakness_and_resource` mean one weakness, by the rule map or a CWE, at overlapping lines or in one resource.',
  }),
  value: text(
    'The value that they have in common: a rule, a CWE, a group of the rule map or the id of a vulnerability. Null for fingerprints and secrets, which are not shown.',
  ),
  alias_path: Type.Array(AliasPathStep, {
    description:
      'The shortest path of aliases from an id that the finding names to `value`. Empty if it names `value`.',
  }),
  with: Type.Array(Type.String(), { description: 'The ids of the other findings that match, at most 20.' }),
  with_count: count('The number of other findings that match.'),
})

const Member = Closed({
  ...Reported,
  identity: FindingIdentity,
  reason: Closed(
    {
      code: OneOf(GROUPING_CODES, { description: 'The first rule that matched.' }),
      detail: Type.String({ description: 'A sentence that states the match.' }),
      at: time('When the finding was grouped.'),
    },
    { description: 'The stored reason, which is also the `grouping_reason` of the finding.' },
  ),
  matches: Type.Array(Match, { description: 'The rules that match now, in order of precedence.' }),
})

const Rejected = Closed({
  ...Reported,
  issue_id: Type.String({ description: 'The id of the issue that the finding belongs to.' }),
  code: OneOf(REJECTION_CODES, {
    description: 'The property that differs. `split` means that a person split the issues.',
  }),
  detail: Type.String({ description: 'A sentence that states the difference.' }),
})

const Event = Closed({
  event: OneOf(['merged', 'split'], {
    description: '`merged`: the issue was merged into the other issue. `split`: it was split from the other issue.',
  }),
  issue_id: Type.String({ description: 'The id of the issue that was merged, or that was created by the split.' }),
  other_issue_id: Type.String({ description: 'The id of the other issue.' }),
  detail: Type.String({ description: 'A sentence that gives the reason.' }),
  at: time('When the event happened.'),
})

/** Our own endpoint: it is not part of the specification. */
export const IssueExplanation = Closed(
  {
    issue_id: Type.String({ description: 'The id of the issue.' }),
    status: OneOf(ISSUE_STATUSES, { description: 'The status of the issue.' }),
    split_from: text('The id of the issue that this issue was split from. Null if it was not split.'),
    merged_into: text('The id of the issue that this issue was merged into. Null if it was not merged.'),
    is_current: Type.Boolean({
      description: 'False if the current rules and aliases would group the findings differently.',
    }),
    members: Type.Array(Member, { description: 'The findings of the issue, oldest first, at most 100.' }),
    member_count: count('The number of findings in the issue.'),
    rejected: Type.Array(Rejected, {
      description:
        'The nearest findings of the same package, file or resource that belong to other issues, at most 20. In a file, the findings at the fewest lines from the issue come first, and of these the ones with the most similar weakness. Findings of secrets are compared with all secrets of the repository.',
    }),
    rejected_count: count('The number of findings of the same package, file or resource that belong to other issues.'),
    history: Type.Array(Event, { description: 'Merges and splits of the issue, newest first, at most 100.' }),
  },
  { $id: 'IssueExplanation', description: 'The reasons why findings were or were not grouped into an issue.' },
)
export type IssueExplanation = Static<typeof IssueExplanation>
