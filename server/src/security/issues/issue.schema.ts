import { Type } from 'typebox'
import { pageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'
import { Intel, Location } from '../findings/finding.schema.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { FINDING_KINDS, ISSUE_STATUSES } from '../vocabulary/finding.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

const text = (description: string) => Nullable(Type.String(), { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const time = (description: string) => Type.String({ ...Timestamp, description })

const ISSUE_SORTS = ['newest', 'severity', 'epss'] as const
export type IssueSort = (typeof ISSUE_SORTS)[number]

export const IssueQuery = pageQuery(1000, 100, {
  ...repositoryFilters,
  severity: Type.Optional(OneOf(SEVERITIES, { description: 'Return only issues of this severity.' })),
  status: Type.Optional(OneOf(ISSUE_STATUSES, { description: 'Return only issues with this status.' })),
  kind: Type.Optional(OneOf(FINDING_KINDS, { description: 'Return only issues of this kind.' })),
  kev: Type.Optional(
    Type.Boolean({
      description: 'Return only issues whose vulnerability is (`true`) or is not (`false`) in the KEV catalog.',
    }),
  ),
  epss_min: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Return only issues with at least this EPSS score. An issue without a score counts as 0.',
    }),
  ),
  sort: Type.Optional(
    OneOf(ISSUE_SORTS, {
      default: 'newest',
      description:
        'Sort order: newest first, worst severity first, or highest EPSS score first. Ties are newest first.',
    }),
  ),
})

const IssueSource = Closed(
  {
    source: Type.String({ description: 'Format of the reports.' }),
    scanner: Type.String({ description: 'Name of the scanner.' }),
    count: count('Number of findings from this source.'),
    open: count('Number of open findings from this source.'),
  },
  { description: 'A scanner in one report format.' },
)

/** Findings that are about the same problem, as one issue (specification, "Issue"). */
export const Issue = Closed(
  {
    id: Type.String({ description: 'Id of the issue.' }),
    synthetic: Type.Boolean({ description: 'True if the issue has only one finding.' }),
    kind: OneOf(FINDING_KINDS, { description: 'Kind of the problem.' }),
    type: text('Type of the worst open finding, as its scanner reports it.'),
    title: Type.String({ description: 'Title of the worst open finding.' }),
    description: text('Description of the worst open finding.'),
    severity: OneOf(SEVERITIES, {
      description: 'Severity of the worst open finding, or of the worst finding if none is open.',
    }),
    status: OneOf(ISSUE_STATUSES, {
      description:
        '`open` while a finding is open on the tracked branch. Otherwise `dismissed` if a finding is dismissed, else `fixed`.',
    }),
    repository: Type.String({ description: 'Full name of the repository.' }),
    provider: Nullable(OneOf(PROVIDERS), { description: "The repository's code host; null if it is not known." }),
    repository_id: text("The code host's id of the repository."),
    package_name: text('Name of the affected package.'),
    package_version: text('Version of the affected package.'),
    purl: text('Package URL of the affected package.'),
    vuln_ids: Type.Array(Type.String(), { description: 'Ids of the vulnerability, from all findings.' }),
    cwes: Type.Array(Type.String(), { description: 'CWE ids of the weakness, from all findings.' }),
    location: Location,
    resource_name: text('Name of the affected cloud resource.'),
    first_seen_at: time('When a finding of the issue was first seen.'),
    last_seen_at: time('When a finding of the issue was last seen.'),
    sources: Type.Array(IssueSource, { description: 'The scanners that report the issue.' }),
    member_count: count('Number of findings in the issue.'),
    source_count: count('Number of sources.'),
    open_member_count: count('Number of findings that are open on the tracked branch.'),
    split_from: text('Id of the issue that this issue was split from.'),
    dismiss_reason: text('Reason of the last dismissal, if the issue is dismissed.'),
    dismiss_comment: text('Comment of the last dismissal.'),
    dismissed_by_name: text('Who dismissed the finding last.'),
    dismissed_at: Nullable(Timestamp, { description: 'When a finding was last dismissed.' }),
    updated_at: time('When the issue last changed.'),
    intel: Intel,
  },
  { $id: 'Issue' },
)
