import { Type } from 'typebox'
import { pageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'
import { REPORT_FORMATS } from '../formats/report/parsed-report.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { FINDING_KINDS } from '../vocabulary/finding-kind.ts'
import { FINDING_ORIGINS } from '../vocabulary/origin.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

const Text = Nullable(Type.String())
const Time = Nullable(Timestamp)
const Score = Nullable(Type.Number())

export const FindingQuery = pageQuery(1000, 100, repositoryFilters)

export const Location = Nullable(
  Closed({ path: Type.String(), start_line: Nullable(Type.Integer()), end_line: Nullable(Type.Integer()) }),
)

const Cvss = Nullable(Closed({ version: Text, score: Score, vector: Text }))

/** What is known of the vulnerability today (specification, "Raw finding"). */
export const Intel = Closed({
  canonical_id: Text,
  kev: Nullable(Closed({ cve_id: Type.String(), date_added: Text, due_date: Text, ransomware: Type.Boolean() })),
  epss: Nullable(Closed({ score: Score, percentile: Score, date: Text })),
  cvss: Cvss,
  advisory_severity: Text,
  withdrawn: Nullable(Type.Boolean()),
  fix_available: Type.Boolean(),
  as_of: Closed({ kev: Text, epss: Text, advisory: Text }),
})

const IntelAtDetection = Closed({
  at: Timestamp,
  severity: OneOf(SEVERITIES),
  scanner_score: Score,
  cvss: Cvss,
  epss: Nullable(Closed({ score: Score, percentile: Score, date: Text })),
  kev: Nullable(Closed({ date_added: Text })),
  fix_available: Type.Boolean(),
  backfilled: Type.Boolean(),
})

export const Finding = Closed(
  {
    id: Type.String(),
    origin: OneOf(FINDING_ORIGINS),
    source: OneOf(REPORT_FORMATS),
    scanner: Type.String(),
    scanner_version: Text,
    kind: OneOf(FINDING_KINDS),
    type: Text,
    severity: OneOf(SEVERITIES),
    state: OneOf(['open', 'fixed', 'dismissed']),
    title: Type.String(),
    description: Text,
    native_url: Text,
    repository: Type.String(),
    provider: Nullable(OneOf(PROVIDERS)),
    repository_id: Text,
    commit_sha: Text,
    git_ref: Text,
    category: Text,
    tracked: Type.Boolean(),
    location: Location,
    package_name: Text,
    package_version: Text,
    fixed_version: Text,
    purl: Text,
    vuln_ids: Type.Array(Type.String()),
    cwes: Type.Array(Type.String()),
    rule_id: Text,
    secret_type: Text,
    resource_name: Text,
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    issue_id: Text,
    grouping_reason: Nullable(Closed({ code: Type.String(), detail: Text, at: Timestamp })),
    category_reason: Text,
    dismiss_reason: Text,
    dismiss_comment: Text,
    dismissed_by_name: Text,
    dismissed_at: Time,
    dismissal_source: Text,
    intel: Intel,
    intel_at_detection: IntelAtDetection,
  },
  { $id: 'Finding' },
)
