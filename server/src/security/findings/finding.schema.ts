import { type Static, Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { countFilter, definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { FINDING_SOURCES } from '../formats/catalogue.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { NAME_MAX, PATH_MAX } from '../vocabulary/bounded-text.ts'
import {
  DECIDED_MARKS,
  FINDING_KINDS,
  FINDING_ORIGINS,
  FINDING_STATES,
  IDENTITY_METHODS,
} from '../vocabulary/finding.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

function Text(description: string) {
  return Nullable(Type.String({ description }))
}

function Score(description: string) {
  return Nullable(Type.Number({ description }))
}

function Flag(description: string) {
  return Type.Boolean({ description })
}

function defineTime(description: string) {
  return Type.String({ ...Timestamp, description })
}

const lines = {
  path: Type.String({ description: 'The path of the file, relative to the root of the repository.' }),
  start_line: Nullable(Type.Integer({ description: 'The first line of the problem, counted from 1.' })),
  end_line: Nullable(Type.Integer({ description: 'The last line of the problem.' })),
}
const LOCATION = { description: 'The location of the problem in the code. Null if it is not in a file.' }

export const Location = Nullable(Closed(lines, LOCATION))

const FindingLocation = Nullable(
  Closed(
    {
      ...lines,
      start_column: Type.Optional(
        Nullable(
          Type.Integer({
            description: 'The first column of the problem in `start_line`, counted from 1. Absent without columns.',
          }),
        ),
      ),
      end_column: Type.Optional(
        Nullable(
          Type.Integer({
            description: 'The column after the last character of the problem in `end_line`. Absent without columns.',
          }),
        ),
      ),
    },
    LOCATION,
  ),
)

const Cvss = Nullable(
  Closed(
    {
      version: Text('The version of CVSS, such as `3.1`.'),
      score: Score('The base score from 0 to 10.'),
      vector: Text('The CVSS vector.'),
    },
    { description: 'The CVSS (Common Vulnerability Scoring System) rating. Null if none is known.' },
  ),
)

const Epss = Nullable(
  Closed(
    {
      score: Score('The probability of exploitation within 30 days, from 0 to 1.'),
      percentile: Score('The share of all vulnerabilities with the same or a lower score, from 0 to 1.'),
      date: Text('The day of the score.'),
    },
    { description: 'The EPSS (Exploit Prediction Scoring System) score. Null if none is known.' },
  ),
)

/** The vulnerability intelligence of today (specification, "Raw finding"). */
export const Intel = Closed(
  {
    canonical_id: Text('The preferred id of the vulnerability: its CVE id if it has one.'),
    kev: Nullable(
      Closed(
        {
          cve_id: Type.String({ description: 'The CVE id of the entry.' }),
          date_added: Text('The day on which the entry was added to the catalog.'),
          due_date: Text('The day by which US federal agencies must fix the vulnerability.'),
          ransomware: Flag('Whether ransomware campaigns are known to use the vulnerability.'),
        },
        { description: "The entry in CISA's catalog of Known Exploited Vulnerabilities (KEV). Null if there is none." },
      ),
    ),
    epss: Epss,
    cvss: Cvss,
    advisory_severity: Text('The severity that the advisory states.'),
    withdrawn: Nullable(Flag('Whether the advisory was withdrawn. Null if there is no advisory.')),
    fix_available: Flag('Whether a version that fixes the vulnerability is known.'),
    as_of: Closed(
      {
        kev: Text('The release day of the imported KEV catalog.'),
        epss: Text('The day of the imported EPSS scores.'),
        advisory: Text('The day on which the advisory was last changed.'),
      },
      { description: 'The date of the data from each source. Null if the source was never imported.' },
    ),
  },
  { description: 'The vulnerability intelligence of today.' },
)

const IntelAtDetection = Closed(
  {
    at: defineTime('When the finding was first seen.'),
    severity: OneOf(SEVERITIES, { description: 'The severity at that time.' }),
    scanner_score: Score('The score that the scanner reported.'),
    cvss: Cvss,
    epss: Epss,
    kev: Nullable(
      Closed(
        { date_added: Text('The day on which the entry was added to the catalog.') },
        { description: 'The KEV entry at that time. Null if there was none.' },
      ),
    ),
    fix_available: Flag('Whether a version that fixes the vulnerability was known.'),
    backfilled: Flag('Whether unknown values were filled in by a later import.'),
  },
  { description: 'The vulnerability intelligence at the time when the finding was first seen.' },
)

const GroupingReason = Nullable(
  Closed(
    {
      code: Type.String({ description: 'The code of the reason, such as `same_vulnerability`.' }),
      detail: Text('The reason as a sentence.'),
      at: defineTime('When the finding was added to its issue.'),
    },
    { description: 'The reason why the finding belongs to its issue.' },
  ),
)

export const FindingIdentity = Closed(
  {
    method: OneOf(IDENTITY_METHODS, {
      description:
        'How a report was last found to contain this finding when it did not match exactly. ' +
        '`new`: all reports matched exactly so far. ' +
        '`same_fingerprint`: the finding was closed, and a later report contained its fingerprint again. ' +
        '`same_place`: one of several equal findings of a file, told apart by the findings around it. ' +
        '`edited_in_place`: the flagged code or the message changed. ' +
        '`moved_in_file`: it moved to other lines of its file. ' +
        '`file_renamed`: its file or folder was renamed. ' +
        '`moved_to_file`: it moved to another file.',
    }),
    matched_from: Nullable(
      Closed(
        {
          path: Type.String({ description: 'The path of the file.' }),
          start_line: Nullable(Type.Integer({ description: 'The first line.' })),
        },
        { description: 'The location until then. Null for `new`, and if the finding was not in a file.' },
      ),
    ),
    at: defineTime('When the finding was recognized. For `new`, when it was first seen.'),
  },
  { description: 'How the finding was recognized as one that was already known.' },
)
export type FindingIdentity = Static<typeof FindingIdentity>

/** A dismissal that ended because the finding is another one than was looked at. */
export const EndedDismissal = Nullable(
  Closed(
    {
      at: defineTime('When the dismissal ended.'),
      changed: Type.Array(OneOf(DECIDED_MARKS, { description: 'What differs from what was dismissed.' }), {
        description: 'What the report shows differently, such as `text` for the flagged code.',
      }),
      reason: Text('The reason for the dismissal.'),
      comment: Text('The comment on the dismissal.'),
      by: Text('The name of the person who dismissed it.'),
    },
    {
      description:
        'The dismissal by a person that ended because a report shows something else than what was dismissed. Null if there ' +
        'was none, or if somebody has decided since.',
    },
  ),
)

export const Finding = Closed(
  {
    id: Type.String({ description: 'The id of the finding.' }),
    origin: OneOf(FINDING_ORIGINS, {
      description:
        'The origin of the finding: an `alert` of the code host, an `upload`, a `report` of a CI job, or the `inventory`, ' +
        'of which a component matches an advisory.',
    }),
    source: OneOf(FINDING_SOURCES, {
      description:
        'The format of the report. For an alert, the code host that raised it; `osv` for a match of the inventory.',
    }),
    scanner: Type.String({ description: 'The name of the scanner that reported the finding.' }),
    scanner_version: Text('The version of the scanner.'),
    kind: OneOf(FINDING_KINDS, { description: 'The kind of the problem.' }),
    type: Text('The type of the problem, as the scanner reports it. For an alert, the type of the alert.'),
    severity: OneOf(SEVERITIES, { description: 'The severity of the finding.' }),
    state: OneOf(FINDING_STATES, {
      description:
        '`fixed` if a newer report does not contain the finding. `dismissed` if a person, the report or a VEX document ' +
        'dismissed it. The finding of an alert has the status of the alert, unless it was triaged itself.',
    }),
    title: Type.String({ description: 'The title of the finding.' }),
    description: Text('The description that the scanner reported.'),
    native_url: Text("The URL of the alert, or of the finding or its rule on the scanner's site."),
    repository: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host of the repository. Null if it is not known.' })),
    repository_id: Text('The id of the repository on the code host. Null if it is not known.'),
    commit_sha: Text('The last commit whose scan contained the finding.'),
    git_ref: Text('The branch or tag that was scanned.'),
    category: Text('The category of the report.'),
    tracked: Flag('Whether the finding can open an issue.'),
    location: FindingLocation,
    package_name: Text('The name of the vulnerable package.'),
    package_version: Text('The version of the vulnerable package.'),
    fixed_version: Text('The first version that fixes the vulnerability, as the scanner reports it.'),
    purl: Text('The package URL of the vulnerable package.'),
    vuln_ids: Type.Array(Type.String(), { description: 'The ids of the vulnerability, such as CVE and GHSA ids.' }),
    cwes: Type.Array(Type.String(), { description: 'The CWE ids of the weakness, such as `CWE-79`.' }),
    rule_id: Text("The id of the scanner's rule."),
    secret_type: Text('The type of the leaked secret.'),
    resource_name: Text('The name of the affected resource, such as a cloud resource or an image.'),
    first_seen_at: defineTime('When the finding was first seen.'),
    last_seen_at: defineTime('When the finding was last seen.'),
    identity: FindingIdentity,
    issue_id: Text('The id of the issue that the finding belongs to.'),
    upload_id: Text(
      'The id of the upload that the scanner last reported with for this category and branch. A finding that is fixed or ' +
        'held is not in it. Null for the finding of an alert.',
    ),
    grouping_reason: GroupingReason,
    category_reason: Text(
      '`stream_ended` if the finding is fixed because its stream was ended, and not because a report lacks it. A finding ' +
        'of the inventory that is fixed always has a reason: `component_removed` and `version_changed` are fixes; ' +
        '`advisory_corrected`, `advisory_withdrawn`, `stream_ended`, `merged` (another finding of the same vulnerability ' +
        'goes on) and `matching_off` are not.',
    ),
    preview: Flag(
      'True for a finding of the inventory while the organization only previews them: it counts nowhere, and blocks nothing.',
    ),
    dismiss_reason: Text('The reason for the dismissal.'),
    dismiss_comment: Text('The comment on the dismissal.'),
    dismissed_by_name: Text(
      'Who dismissed the finding: a person, the sender of a VEX document and who confirmed it, or an account of the code host. `VEX document` or `scanner report` if no name is known. Null if it is not dismissed, or the code host names nobody.',
    ),
    dismissed_at: Nullable(defineTime('When the finding was dismissed.')),
    dismissal_source: Text(
      'The source of the dismissal: `shiplock` for a person, `report` for a suppression in the report, the format of a ' +
        'VEX document, such as `openvex`, or the code host of an alert.',
    ),
    dismissal_expires_at: Nullable(defineTime('When the dismissal ends. Null if it does not end by itself.')),
    dismissal_ended: EndedDismissal,
    triage_id: Text('The id of the triage that decides the state. Null if the finding was not triaged.'),
    intel: Intel,
    intel_at_detection: IntelAtDetection,
  },
  { $id: 'Finding', description: 'A raw finding: one problem as one scanner reports it.' },
)

/** A text that PostgreSQL can store and compare. */
function Filter(maxLength: number, description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000]*$', description }))
}

export const FindingQuery = definePageQuery(1000, 100, {
  ...countFilter,
  ...repositoryFilters,
  state: Type.Optional(OneOf(FINDING_STATES, { description: 'Return only findings in this state.' })),
  severity: Type.Optional(OneOf(SEVERITIES, { description: 'Return only findings with this severity.' })),
  kind: Type.Optional(OneOf(FINDING_KINDS, { description: 'Return only findings of this kind.' })),
  scanner: Filter(NAME_MAX, 'Return only findings of the scanner with this exact name.'),
  category: Filter(NAME_MAX, 'Return only findings of reports with this exact category.'),
  git_ref: Filter(255, 'Return only findings of this branch or tag. `main` and `refs/heads/main` are the same branch.'),
  path: Filter(
    PATH_MAX,
    'Return only findings whose path, relative to the root of the repository, begins with this text. ' +
      '`src/` selects the files below the directory `src`. No character is a wildcard.',
  ),
  issue_id: Type.Optional(
    Type.String({ pattern: UUID_PATTERN, description: 'Return only findings of the issue with this id.' }),
  ),
  first_seen_since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Return only findings that were first seen at or after this time.',
    }),
  ),
})

export const FindingPath = Closed({
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the finding.' }),
})
