import { Type } from 'typebox'
import { pageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'
import { REPORT_FORMATS } from '../formats/report/parsed-report.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { FINDING_KINDS, FINDING_ORIGINS } from '../vocabulary/finding.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

export const FindingQuery = pageQuery(1000, 100, repositoryFilters)

function Text(description: string) {
  return Nullable(Type.String({ description }))
}

function Score(description: string) {
  return Nullable(Type.Number({ description }))
}

function Flag(description: string) {
  return Type.Boolean({ description })
}

function TimeOf(description: string) {
  return Type.String({ ...Timestamp, description })
}

export const Location = Nullable(
  Closed(
    {
      path: Type.String({ description: 'Path of the file, relative to the root of the repository.' }),
      start_line: Nullable(Type.Integer({ description: 'First line, counted from 1.' })),
      end_line: Nullable(Type.Integer({ description: 'Last line.' })),
    },
    { description: 'Where the problem is in the code. Null if it is in no file.' },
  ),
)

const Cvss = Nullable(
  Closed(
    {
      version: Text('Version of CVSS, such as `3.1`.'),
      score: Score('Base score from 0 to 10.'),
      vector: Text('Vector string.'),
    },
    { description: 'Rating by the Common Vulnerability Scoring System.' },
  ),
)

const Epss = Nullable(
  Closed(
    {
      score: Score('Probability of exploitation within 30 days, from 0 to 1.'),
      percentile: Score('Share of all vulnerabilities with the same or a lower score, from 0 to 1.'),
      date: Text('Day of the score.'),
    },
    { description: 'Score of the Exploit Prediction Scoring System. Null without a score.' },
  ),
)

/** What is known of the vulnerability today (specification, "Raw finding"). */
export const Intel = Closed(
  {
    canonical_id: Text('The id under which the vulnerability is known: a CVE id where there is one.'),
    kev: Nullable(
      Closed(
        {
          cve_id: Type.String({ description: 'CVE id of the entry.' }),
          date_added: Text('Day on which the entry was added.'),
          due_date: Text('Day by which US federal agencies must fix the vulnerability.'),
          ransomware: Flag('Whether ransomware campaigns are known to use the vulnerability.'),
        },
        { description: "Entry in CISA's catalog of Known Exploited Vulnerabilities. Null without an entry." },
      ),
    ),
    epss: Epss,
    cvss: Cvss,
    advisory_severity: Text('Severity in the advisory.'),
    withdrawn: Nullable(Flag('Whether the advisory was withdrawn. Null without an advisory.')),
    fix_available: Flag('Whether a fixed version is known.'),
    as_of: Closed(
      {
        kev: Text('Day of the imported KEV catalog.'),
        epss: Text('Day of the imported EPSS scores.'),
        advisory: Text('Day on which the advisory was last changed.'),
      },
      { description: 'How recent each source is. Null where nothing was imported.' },
    ),
  },
  { description: 'What is known of the vulnerability today.' },
)

const IntelAtDetection = Closed(
  {
    at: TimeOf('When the finding was first seen.'),
    severity: OneOf(SEVERITIES, { description: 'Severity at that time.' }),
    scanner_score: Score('Score of the scanner.'),
    cvss: Cvss,
    epss: Epss,
    kev: Nullable(
      Closed(
        { date_added: Text('Day on which the KEV entry was added.') },
        { description: 'The KEV entry at that time. Null without an entry.' },
      ),
    ),
    fix_available: Flag('Whether a fixed version was known.'),
    backfilled: Flag('Whether values that were unknown at that time were added later.'),
  },
  { description: 'What was known of the vulnerability when the finding was first seen.' },
)

const GroupingReason = Nullable(
  Closed(
    {
      code: Type.String({ description: 'Why the finding belongs to its issue, such as `same_vulnerability`.' }),
      detail: Text('The reason as a sentence.'),
      at: TimeOf('When the finding was added to its issue.'),
    },
    { description: 'Why the finding belongs to its issue.' },
  ),
)

export const Finding = Closed(
  {
    id: Type.String({ description: 'UUID of the finding.' }),
    origin: OneOf(FINDING_ORIGINS, {
      description:
        'What the finding comes from: `alert` of a code host, `upload` of a report, or `report` of a CI job.',
    }),
    source: OneOf(REPORT_FORMATS, { description: 'Format of the report.' }),
    scanner: Type.String({ description: 'Name of the tool that reported the finding.' }),
    scanner_version: Text('Version of the tool.'),
    kind: OneOf(FINDING_KINDS, { description: 'What the finding is about.' }),
    type: Text('A finer type, as the scanner names it.'),
    severity: OneOf(SEVERITIES),
    state: OneOf(['open', 'fixed', 'dismissed'], {
      description:
        '`fixed` when a newer report does not contain the finding, `dismissed` by a person or by the report.',
    }),
    title: Type.String(),
    description: Text('The full text of the scanner.'),
    native_url: Text('Page of the finding or its rule on the site of the scanner.'),
    repository: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host. Null until it is known.' })),
    repository_id: Text("The provider's id of the repository. Null until it is known."),
    commit_sha: Text('The last scanned commit that had the finding.'),
    git_ref: Text('The branch or tag that was scanned.'),
    category: Text('The category of the report.'),
    tracked: Flag('Whether the finding opens an issue.'),
    location: Location,
    package_name: Text('Name of the vulnerable package.'),
    package_version: Text('Version of the vulnerable package.'),
    fixed_version: Text('First version without the vulnerability, as the scanner names it.'),
    purl: Text('Package URL of the vulnerable package.'),
    vuln_ids: Type.Array(Type.String(), { description: 'Ids of the vulnerability, such as CVE and GHSA ids.' }),
    cwes: Type.Array(Type.String(), { description: 'Weaknesses, such as `CWE-79`.' }),
    rule_id: Text('Id of the rule of the scanner.'),
    secret_type: Text('Type of a leaked secret.'),
    resource_name: Text('Name of the affected resource, such as a cloud resource or an image.'),
    first_seen_at: TimeOf('When a report contained the finding for the first time.'),
    last_seen_at: TimeOf('When a report contained the finding for the last time.'),
    issue_id: Text('The issue that the finding belongs to.'),
    grouping_reason: GroupingReason,
    category_reason: Text('Always null at present.'),
    dismiss_reason: Text('Why the finding was dismissed.'),
    dismiss_comment: Text('Comment on the dismissal.'),
    dismissed_by_name: Text('Who dismissed the finding. Null for a dismissal by a report.'),
    dismissed_at: Nullable(TimeOf('When the finding was dismissed.')),
    dismissal_source: Text('What dismissed the finding: `report` for a suppression in the report.'),
    intel: Intel,
    intel_at_detection: IntelAtDetection,
  },
  { $id: 'Finding' },
)
