import { Type } from 'typebox'
import { pageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'
import { Intel, Location } from '../findings/finding.schema.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { FINDING_KINDS } from '../vocabulary/finding-kind.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

const Text = Nullable(Type.String())
const Count = Type.Integer({ minimum: 0 })

export const ISSUE_STATUSES = ['open', 'fixed', 'dismissed'] as const
export type IssueStatus = (typeof ISSUE_STATUSES)[number]

const ISSUE_SORTS = ['newest', 'severity', 'epss'] as const
export type IssueSort = (typeof ISSUE_SORTS)[number]

export const IssueQuery = pageQuery(1000, 100, {
  ...repositoryFilters,
  severity: Type.Optional(OneOf(SEVERITIES)),
  status: Type.Optional(OneOf(ISSUE_STATUSES)),
  kind: Type.Optional(OneOf(FINDING_KINDS)),
  kev: Type.Optional(
    Type.Boolean({ description: 'Whether the vulnerability is in the catalogue of known exploited ones.' }),
  ),
  epss_min: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Lowest EPSS score; without a score it is 0.' }),
  ),
  sort: Type.Optional(
    OneOf(ISSUE_SORTS, { default: 'newest', description: 'Worst or most probable first, of equals the newest.' }),
  ),
})

const IssueSource = Closed({ source: Type.String(), scanner: Type.String(), count: Count, open: Count })

/** The raw findings that say the same, as one (specification, "Issue"). */
export const Issue = Closed(
  {
    id: Type.String(),
    synthetic: Type.Boolean({ description: 'True where one finding stands alone.' }),
    kind: OneOf(FINDING_KINDS),
    type: Text,
    title: Type.String(),
    description: Text,
    severity: OneOf(SEVERITIES),
    status: OneOf(ISSUE_STATUSES),
    repository: Type.String(),
    provider: Nullable(OneOf(PROVIDERS)),
    repository_id: Text,
    package_name: Text,
    package_version: Text,
    purl: Text,
    vuln_ids: Type.Array(Type.String()),
    cwes: Type.Array(Type.String()),
    location: Location,
    resource_name: Text,
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    sources: Type.Array(IssueSource),
    member_count: Count,
    source_count: Count,
    open_member_count: Count,
    split_from: Text,
    dismiss_reason: Text,
    dismiss_comment: Text,
    dismissed_by_name: Text,
    dismissed_at: Nullable(Timestamp),
    updated_at: Timestamp,
    intel: Intel,
  },
  { $id: 'Issue' },
)
