import { Type } from 'typebox'
import { pageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { Location } from '../findings/finding.schema.ts'

const string = (description: string) => Type.String({ description })
const text = (description: string) => Nullable(Type.String(), { description })
const time = (description: string) => Type.String({ ...Timestamp, description })

/** A status or severity as the code host names it. The specification lists no values. */
const hostValue = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,50}$', description })

export const AlertQuery = pageQuery(100, 50, {
  ...windowFilters,
  status: Type.Optional(hostValue('Return only alerts with this status, as the code host names it.')),
  severity: Type.Optional(hostValue('Return only alerts of this severity, as the code host names it.')),
})

export const AlertPath = Closed({ id: Type.String({ ...ItemId, description: 'Id of the alert.' }) })

/** An alert of a code host (specification, "Security alert"). */
export const Alert = Closed(
  {
    id: string('Id of the alert.'),
    org_id: string('Id of the organization.'),
    repository: string('Full name of the repository.'),
    type: string('Type of the alert, such as a vulnerable dependency or a leaked secret.'),
    severity: string('Severity, as the code host names it.'),
    title: string('Title of the alert.'),
    description: text('Description of the alert.'),
    package_name: text('Name of the vulnerable package.'),
    vulnerable_versions: text('Range of vulnerable versions.'),
    patched_version: text('First version that fixes the vulnerability.'),
    cve_id: text('CVE id of the vulnerability.'),
    status: string('Status, as the code host names it.'),
    detected_at: time('When the code host detected the problem.'),
    fixed_at: Nullable(Timestamp, { description: 'When the problem was fixed.' }),
    dismissed_by: text('Account that dismissed the alert.'),
    dismiss_reason: text('Reason of the dismissal.'),
    dismiss_comment: text('Comment of the dismissal.'),
    dismissed_at: Nullable(Timestamp, { description: 'When the alert was dismissed.' }),
    dismissed_by_name: text('Display name of the account that dismissed the alert.'),
    dismissal_source: text('System in which the alert was dismissed.'),
    github_alert_url: text('Address of the alert on the code host.'),
    ghsa_id: text('GHSA id of the vulnerability.'),
    advisory_url: text('Address of the advisory.'),
    references: Type.Array(Type.String(), { description: 'Addresses with further information.' }),
    location: Location,
    commit_sha: text('Commit in which the problem was detected.'),
    git_ref: text('Git ref in which the problem was detected.'),
    provider: string('The code host.'),
    rule_id: text('Id of the rule that raised the alert.'),
    tool_name: text('Name of the tool that raised the alert.'),
    secret_type: text('Type of the leaked secret.'),
    created_at: time('When the alert was created.'),
    updated_at: time('When the alert last changed.'),
    issue_id: text('Id of the unique issue that the alert belongs to.'),
    grouping_code: text('The rule by which the alert belongs to its issue.'),
    grouping_detail: text('A sentence that states why the alert belongs to its issue.'),
  },
  { $id: 'Alert' },
)
