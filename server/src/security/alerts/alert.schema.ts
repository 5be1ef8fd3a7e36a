import { Type } from 'typebox'
import { pageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { Location } from '../findings/finding.schema.ts'

const Text = Nullable(Type.String())
const Time = Nullable(Timestamp)

/** A status or severity in the code host's own word: the specification lists none. */
const HostWord = Type.String({ pattern: '^[A-Za-z0-9_-]{1,50}$' })

export const AlertQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(HostWord),
  severity: Type.Optional(HostWord),
})

export const AlertPath = Closed({ id: ItemId })

/** What a code host itself warns of (specification, "Security alert"). */
export const Alert = Closed(
  {
    id: Type.String(),
    org_id: Type.String(),
    repository: Type.String(),
    type: Type.String(),
    severity: Type.String(),
    title: Type.String(),
    description: Text,
    package_name: Text,
    vulnerable_versions: Text,
    patched_version: Text,
    cve_id: Text,
    status: Type.String(),
    detected_at: Timestamp,
    fixed_at: Time,
    dismissed_by: Text,
    dismiss_reason: Text,
    dismiss_comment: Text,
    dismissed_at: Time,
    dismissed_by_name: Text,
    dismissal_source: Text,
    github_alert_url: Text,
    ghsa_id: Text,
    advisory_url: Text,
    references: Type.Array(Type.String()),
    location: Location,
    commit_sha: Text,
    git_ref: Text,
    provider: Type.String(),
    rule_id: Text,
    tool_name: Text,
    secret_type: Text,
    created_at: Timestamp,
    updated_at: Timestamp,
    issue_id: Text,
    grouping_code: Text,
    grouping_detail: Text,
  },
  { $id: 'Alert' },
)
