import { Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { countFilter, definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { EndedDismissal, Intel, Location } from '../findings/finding.schema.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { FINDING_KINDS, ISSUE_STATUSES } from '../vocabulary/finding.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

const text = (description: string) => Nullable(Type.String(), { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const time = (description: string) => Type.String({ ...Timestamp, description })

const ISSUE_SORTS = ['newest', 'severity', 'epss'] as const
export type IssueSort = (typeof ISSUE_SORTS)[number]

export const IssueQuery = definePageQuery(1000, 100, {
  ...countFilter,
  ...repositoryFilters,
  severity: Type.Optional(OneOf(SEVERITIES, { description: 'Return only issues with this severity.' })),
  status: Type.Optional(OneOf(ISSUE_STATUSES, { description: 'Return only issues with this status.' })),
  kind: Type.Optional(OneOf(FINDING_KINDS, { description: 'Return only issues of this kind.' })),
  kev: Type.Optional(
    Type.Boolean({
      description: 'Return only issues whose vulnerability is (`true`) or is not (`false`) in the KEV catalog.',
    }),
  ),
  urgent: Type.Optional(
    Type.Boolean({
      description:
        'Return only issues that are (`true`) or are not (`false`) critical, high or of a vulnerability in the KEV catalog.',
    }),
  ),
  created_since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Return only issues that were created at or after this time.',
    }),
  ),
  epss_min: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Return only issues with at least this EPSS score. An issue without a score counts as 0.',
    }),
  ),
  vulnerability: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Return only issues of the vulnerability with this id or an alias of it, such as `CVE-2024-1000`.',
    }),
  ),
  package: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description:
        'Return only issues of dependencies and licenses in the package with this name or package URL, in any version. ' +
        'Upper and lower case, `_`, `-` and `.` are the same.',
    }),
  ),
  sort: Type.Optional(
    OneOf(ISSUE_SORTS, {
      default: 'newest',
      description:
        'The sort order: newest, worst severity or highest EPSS score first. Equal issues are sorted newest first.',
    }),
  ),
})

const IssueSource = Closed(
  {
    source: Type.String({ description: 'The format of the reports. For alerts, the code host.' }),
    scanner: Type.String({ description: 'The name of the scanner.' }),
    count: count('The number of findings from this source.'),
    open: count('The number of open findings from this source.'),
  },
  { description: 'A scanner and the format of its reports.' },
)

/** Findings that are about the same problem, as one issue (specification, "Issue"). */
export const Issue = Closed(
  {
    id: Type.String({ description: 'The id of the issue.' }),
    synthetic: Type.Boolean({ description: 'True if the issue has only one finding.' }),
    kind: OneOf(FINDING_KINDS, { description: 'The kind of the problem.' }),
    type: text('The type of the worst open finding, as its scanner reports it.'),
    title: Type.String({ description: 'The title of the worst open finding.' }),
    description: text('The description of the worst open finding.'),
    severity: OneOf(SEVERITIES, {
      description: 'The severity of the worst open finding, or of the worst finding if none is open.',
    }),
    status: OneOf(ISSUE_STATUSES, {
      description:
        '`open` if a tracked finding is open. Otherwise `dismissed` if a finding is dismissed, and `fixed` if none is.',
    }),
    repository: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS), { description: 'The code host of the repository. Null if it is not known.' }),
    repository_id: text('The id of the repository on the code host. Null if it is not known.'),
    package_name: text('The name of the vulnerable package.'),
    package_version: text('The version of the vulnerable package.'),
    purl: text('The package URL of the vulnerable package.'),
    vuln_ids: Type.Array(Type.String(), { description: 'The ids of the vulnerability, from all findings.' }),
    cwes: Type.Array(Type.String(), { description: 'The CWE ids of the weakness, from all findings.' }),
    location: Location,
    resource_name: text('The name of the affected resource, such as a cloud resource or an image.'),
    first_seen_at: time('When a finding of the issue was first seen.'),
    last_seen_at: time('When a finding of the issue was last seen.'),
    sources: Type.Array(IssueSource, { description: 'The scanners that report the issue.' }),
    member_count: count('The number of findings in the issue.'),
    source_count: count('The number of entries in `sources`.'),
    open_member_count: count('The number of tracked findings that are open.'),
    split_from: text('The id of the issue that this issue was split from. Null if it was not split.'),
    dismiss_reason: text('The reason for the last dismissal, if the issue is dismissed.'),
    dismiss_comment: text('The comment on the last dismissal.'),
    dismissed_by_name: text('Who dismissed a finding last, as for findings.'),
    dismissed_at: Nullable(Timestamp, { description: 'When a finding was last dismissed.' }),
    dismissal_source: text(
      'The source of the last dismissal: `shiplock`, `report`, the format of a VEX document, or a code host.',
    ),
    dismissal_expires_at: Nullable(Timestamp, {
      description: 'When the last dismissal ends. Null if it does not end by itself.',
    }),
    dismissal_ended: EndedDismissal,
    updated_at: time('When the issue was last updated.'),
    intel: Intel,
  },
  { $id: 'Issue', description: 'A unique issue: the findings of one problem.' },
)
