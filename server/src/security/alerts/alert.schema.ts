import { Type } from 'typebox'
import { countFilter, definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { Location } from '../findings/finding.schema.ts'

const string = (description: string) => Type.String({ description })
const text = (description: string) => Nullable(Type.String(), { description })
const time = (description: string) => Type.String({ ...Timestamp, description })

/** The specification lists no values. An unknown one matches no alert. */
const filterValue = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,50}$', description })

export const AlertQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  status: Type.Optional(filterValue('Return only alerts with this status, such as `open`.')),
  severity: Type.Optional(filterValue('Return only alerts of this severity, such as `high`.')),
})

export const AlertPath = Closed({ id: Type.String({ ...ItemId, description: 'The id of the alert.' }) })

/** What became of a dismissal or reopening in Shiplock at the code host. */
const DELIVERIES = ['pending', 'delivered', 'failed'] as const

/** An alert of a code host (specification, "Security alert"). */
export const Alert = Closed(
  {
    id: string('The id of the alert.'),
    org_id: string('The id of the organization.'),
    repository: string('The repository as `owner/name`.'),
    type: string('The type of the alert: `code_scanning`, `dependabot` or `secret_scanning`.'),
    severity: string('The severity: `critical`, `high`, `medium`, `low` or `info`.'),
    title: string('The title of the alert.'),
    description: text('The description of the alert.'),
    package_name: text('The name of the vulnerable package.'),
    vulnerable_versions: text('The range of vulnerable versions of the package.'),
    patched_version: text('The first version that fixes the vulnerability.'),
    cve_id: text('The CVE id of the vulnerability.'),
    status: string('`open`, `fixed` or `dismissed`. A dismissal or reopening in Shiplock counts at once.'),
    detected_at: time('When the code host detected the problem.'),
    fixed_at: Nullable(Timestamp, { description: 'When the problem was fixed.' }),
    dismissed_by: text('The login of the account that dismissed the alert.'),
    dismiss_reason: text(
      "The reason for the dismissal: in the code host's words, or in Shiplock's if it was dismissed in Shiplock.",
    ),
    dismiss_comment: text('The comment on the dismissal.'),
    dismissed_at: Nullable(Timestamp, { description: 'When the alert was dismissed.' }),
    dismissed_by_name: text('The display name of the account that dismissed the alert.'),
    dismissal_source: text('The system in which the alert was dismissed: `shiplock`, or the code host.'),
    dismissal_delivery: Nullable(OneOf(DELIVERIES), {
      description:
        'Whether the code host has accepted a dismissal or reopening in Shiplock: `pending` until it answers, ' +
        '`delivered`, or `failed`. After a failure the alert has the status on the code host again. Null for all ' +
        'other alerts.',
    }),
    proposed_dismissal: Nullable(
      Closed({
        by: text('The login of the account.'),
        by_name: text('The display name of the account.'),
        reason: text("The reason in the code host's words."),
        comment: text('The comment.'),
        at: Nullable(Timestamp, { description: 'When the alert was dismissed on the code host.' }),
      }),
      {
        description:
          'The dismissal on the code host, if it does not count because the organization takes such dismissals as ' +
          'proposals: the alert is open until somebody dismisses it in Shiplock. Null for all other alerts.',
      },
    ),
    github_alert_url: text('The URL of the alert on the code host.'),
    ghsa_id: text('The GHSA id of the vulnerability.'),
    advisory_url: text('The URL of the advisory.'),
    references: Type.Array(Type.String(), { description: 'URLs with further information.' }),
    location: Location,
    commit_sha: text('The commit in which the problem was detected.'),
    git_ref: text('The branch or tag in which the problem was detected.'),
    provider: string('The code host of the repository.'),
    rule_id: text('The id of the rule that raised the alert.'),
    tool_name: text('The name of the tool that raised the alert.'),
    secret_type: text('The type of the leaked secret.'),
    created_at: time('When Shiplock first stored the alert.'),
    updated_at: time('When the alert last changed: on the code host, or by a dismissal or reopening in Shiplock.'),
    issue_id: text('The id of the issue that the alert belongs to. Null for a moment after the alert was created.'),
    finding_id: text('The id of the finding of the alert. Null as long as `issue_id` is.'),
    grouping_code: text('The reason why the alert belongs to its issue, such as `same_vulnerability`.'),
    grouping_detail: text('The reason as a sentence.'),
  },
  { $id: 'Alert', description: 'A security alert of a code host.' },
)
