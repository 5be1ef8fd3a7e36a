import { type Static, Type } from 'typebox'
import { Closed, Nullable } from '../../platform/http/schemas.ts'

const TIMESTAMP = { format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] }
const Text = (description: string) => Type.String({ description })
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Time = (description: string) => Type.String({ ...TIMESTAMP, description })
const Trust = Text(
  'The trust level: `verified` by the code host or by the OIDC token of the run, `untrusted` if code of strangers may have run in that job, `self_reported` by another credential, `uploaded` by an API client, or `ui` by a person.',
)

const Run = Closed(
  {
    id: Text('The id of the run.'),
    provider: Text('The source of the run. `other` for runs created through the API.'),
    ci_system: Text('The CI system, such as `buildkite`. For a run of a code host, the code host, such as `github`.'),
    // Inputs that somebody has stored for `policy test` have no such field.
    ci_instance: Type.Optional(
      Nullable(Text('The CI server or organization, as host and path. Null if it is not known.')),
    ),
    external_run_id: Text('The id of the run in its CI system.'),
    repository: Text('The repository of the attempt as `host/owner/name`.'),
    ref: Nullable(Text('The branch or tag, as sent.')),
    branch: Nullable(Text('The branch, without `refs/heads/`. Null if the run has a tag or no ref.')),
    commit_sha: Nullable(Text('The full SHA of the commit of the attempt. Null if it is not known.')),
    pipeline_name: Text('The name of the pipeline or workflow.'),
    event: Text('The event that started the run, such as `push`.'),
    attempt: Count('The number of the attempt, from 1.'),
    status: Text('The status of the attempt, such as `in_progress` or `success`.'),
    actor: Nullable(Text('The user or service that started the attempt.')),
    started_at: Time('When the attempt started.'),
    completed_at: Nullable(Time('When the attempt finished. Null until then.')),
    trust: Trust,
    ref_protected: Type.Optional(
      Nullable(
        Type.Boolean({
          description:
            'Whether the OIDC token of the run says that its branch or tag is protected. Null if none says so.',
        }),
      ),
    ),
  },
  { description: 'The CI run. Null if there is none, or if the rule does not accept its trust.' },
)

const Attempt = Closed({
  number: Count('The number of the attempt, from 1.'),
  status: Text('The status of the attempt, such as `in_progress` or `success`.'),
  started_at: Time('When the attempt started.'),
  completed_at: Nullable(Time('When the attempt finished. Null until then.')),
  trust: Trust,
})

/** Inputs that somebody has stored for `policy test` have no such fields. */
const PLACE = {
  run_id: Type.Optional(Text('The id of the run that it is from.')),
  attempt: Type.Optional(Count('The attempt of the run, from 1.')),
  pipeline: Type.Optional(Text('The name of the pipeline or workflow of the run.')),
  same_run: Type.Optional(Type.Boolean({ description: 'Whether the run is the one that deploys.' })),
}

const Report = Closed({
  id: Text('The id of the report.'),
  ...PLACE,
  job: Text('The name of the job that sent the report.'),
  name: Text('The name of the report.'),
  matrix: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'The matrix values of the job, such as `{"os": "linux"}`.',
    }),
  ),
  runner: Nullable(Text('The name of the machine that ran the job.')),
  at: Time('When the report was last changed.'),
  trust: Trust,
})

const Attestation = Closed({
  report_id: Text('The id of the report that contains the attestation.'),
  ...PLACE,
  job: Text('The name of the job that sent the attestation.'),
  kind: Text(
    'The kind of the attestation: `test-results`, `coverage`, `sbom`, `scan`, `custom`, `ownership` or `provenance`.',
  ),
  name: Text('The name of the attestation.'),
  status: Text('The status of the attestation: `pass`, `fail`, `warn` or `info`.'),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The data of the attestation, as the job sent it. Figures that the job did not send are those read from its file. ' +
      'Numbers are doubles in CEL.',
  }),
  at: Time('When the attestation was last sent.'),
  trust: Trust,
})

const Artifact = Closed({
  report_id: Type.Optional(Text('The id of the report that contains the artifact.')),
  ...PLACE,
  job: Type.Optional(Text('The name of the job that sent the report.')),
  path: Text('The path of the artifact within the report.'),
  size: Count('The size of the file in bytes.'),
  sha256: Text('The SHA-256 checksum of the file in lowercase hexadecimal.'),
  at: Time('When the artifact was added.'),
  trust: Trust,
})

const Scan = Closed({
  tracked: Type.Boolean({ description: 'Whether the report is about the tracked branch.' }),
  tool: Text('The name of the scanner.'),
  category: Nullable(Text('The category of the report. It separates several reports of one scanner.')),
  ref: Nullable(Text('The branch or tag that was scanned.')),
  commit_sha: Nullable(Text('The commit that was scanned.')),
  at: Time('When the report was read.'),
  trust: Trust,
})

const SeverityCounts = Closed(
  {
    critical: Count('The number with the severity `critical`.'),
    high: Count('The number with the severity `high`.'),
    medium: Count('The number with the severity `medium`.'),
    low: Count('The number with the severity `low`.'),
    info: Count('The number with the severity `info`.'),
  },
  { description: 'The numbers of open ones by severity.' },
)

/** The `trust` and `max_age` of a rule do not limit these counts. */
const openCounts = (description: string) =>
  Closed(
    {
      open: SeverityCounts,
      known_exploited: Type.Optional(
        Count(
          "The number of open ones in CISA's catalog of Known Exploited Vulnerabilities (KEV). Absent if the catalog was never imported.",
        ),
      ),
      max_epss: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            'The highest EPSS score of the open ones. 0 if none has a score. Absent if no scores were imported.',
        }),
      ),
    },
    { description },
  )

const names = (description: string) => Type.Array(Type.String(), { description })

const Evidence = Closed(
  {
    ref: Nullable(
      Text(
        'The branch that is deployed, or the full name of another ref, such as `refs/tags/v1`. Null if it is not known.',
      ),
    ),
    tracked_branch: Nullable(Text('The tracked branch of the repository. Null if it is not known.')),
    on_tracked_branch: Type.Boolean({
      description:
        'Whether the connected code host has reported that the deployed commit was pushed to the tracked branch.',
    }),
    alerts: Type.Boolean({
      description:
        'Whether the alerts of the connected code host about code and about dependencies are switched on and were read.',
    }),
    imported: names('The sources of vulnerability data that were imported: `kev`, `epss` and `osv`.'),
    tools: names('The scanners whose reports count for the rule.'),
    truncated: Type.Optional(
      names(
        'The trust levels of which some reports of CI jobs are left out, because there are too many. A rule that reads `reports`, `attestations` or `artifacts` and admits them never passes. Absent if there are none.',
      ),
    ),
    missing: Nullable(
      Text('What is missing, so that nobody knows whether anything else is open. Null if nothing is missing.'),
    ),
  },
  { description: 'The evidence for `findings` and `issues`.' },
)

const Deployment = Closed(
  {
    id: Text('The id of the deployment.'),
    branch: Nullable(Text('The branch that is deployed. Null for a tag.')),
    commit_sha: Nullable(Text('The commit that is deployed. Null if it is not known.')),
    attempt: Count('The attempt of the run that deploys.'),
  },
  { description: 'The deployment. Null when a compliance result is evaluated.' },
)

const PullRequest = Closed(
  {
    number: Count('The number of the pull request.'),
    title: Text('The title of the pull request.'),
    url: Nullable(Text('The URL of the pull request.')),
    author: Nullable(Text('The login of the author.')),
    state: Text('The state of the pull request: `open`, `closed` or `merged`.'),
    draft: Type.Boolean({ description: 'Whether the pull request is a draft.' }),
    head_sha: Text('The newest commit of the pull request.'),
    base_branch: Text('The branch that the pull request is merged to.'),
    merged_by: Nullable(Text('The login of the person or bot that merged it. Null unless it is merged.')),
    created_at: Time('When the pull request was opened.'),
    merged_at: Nullable(Time('When the pull request was merged. Null unless it is merged.')),
  },
  {
    description:
      'The pull request of the commit, from the connected code host: the one whose merge created the commit, or whose newest commit it is. Null if there is none.',
  },
)

const Review = Closed({
  reviewer: Nullable(Text('The login of the reviewer.')),
  state: Text('The state of the review: `approved`, `changes_requested`, `commented` or `dismissed`.'),
  commit_sha: Nullable(Text('The commit that was reviewed.')),
  stale: Type.Boolean({ description: 'Whether commits followed the reviewed one.' }),
  at: Time('When the review was submitted.'),
})

const Check = Closed({
  name: Text('The name of the check.'),
  source: Text('The app or service that reports the check.'),
  status: Text('The status of the check, such as `in_progress` or `success`.'),
  completed_at: Nullable(Time('When the check finished. Null until then.')),
})

const Environment = Closed(
  {
    name: Text('The name of the environment.'),
    protection_rules: names('The protection rules of the environment, such as `required_reviewers` and `customRule`.'),
    required_reviewers: names('The logins of the reviewers that the code host requires.'),
    required_reviewer_teams: names('The names of the teams that the code host requires as reviewers.'),
  },
  { description: 'The target environment of the deployment.' },
)

/** The document that every policy engine evaluates. Published as docs/policy-input.schema.json. */
export const PolicyInput = Closed({
  now: Time('When the policy is evaluated.'),
  repository: Text('The repository as `host/owner/name`.'),
  run: Nullable(Run),
  attempts: Type.Array(Attempt, { description: 'The attempts of the run.' }),
  reports: Type.Array(Report, {
    description: 'The job reports of the scope of the policy, at most 1,000, newest first.',
  }),
  attestations: Type.Array(Attestation, {
    description: 'The attestations of the scope of the policy, at most 1,000: failed ones first, then the newest.',
  }),
  artifacts: Type.Array(Artifact, {
    description: 'The completed artifacts of the scope of the policy, at most 1,000. Those of other refs are left out.',
  }),
  scans: Type.Array(Scan, {
    description:
      "The newest security report of each scanner and category, for the run's branch or else for the tracked branch.",
  }),
  evidence: Evidence,
  findings: Type.Optional(
    openCounts(
      'The open findings of the reports in `scans`. Absent while `evidence.missing` says what is missing, unless some are known to be open.',
    ),
  ),
  issues: Type.Optional(
    openCounts(
      'The open issues of the repository. Absent while `evidence.missing` says what is missing, unless some are known to be open.',
    ),
  ),
  deployment: Nullable(Deployment),
  environment: Nullable(Environment),
  pull_request: Nullable(PullRequest),
  reviews: Type.Array(Review, { description: 'The reviews of the pull request, newest first, at most 1,000.' }),
  checks: Type.Array(Check, {
    description: 'The newest result of each check of the commit on the connected code host, at most 1,000.',
  }),
  truncated: Type.Array(Type.String(), {
    description: 'The names of the lists that are incomplete. `data` means the data of attestations.',
  }),
})
export type PolicyInput = Static<typeof PolicyInput>

const NO_OPEN = { open: { critical: 0, high: 0, medium: 0, low: 0, info: 0 }, known_exploited: 0, max_epss: 0 }

/** What is known about a commit that no connected code host knows. */
export const NO_CHANGE = { pull_request: null, reviews: [], checks: [] }

/** What an input says of the evidence that was written before it could. */
export const NO_EVIDENCE: PolicyInput['evidence'] = {
  ref: null,
  tracked_branch: null,
  on_tracked_branch: false,
  alerts: false,
  imported: ['kev', 'epss', 'osv'],
  tools: [],
  missing: null,
}

/** An environment without protection rules on a code host. */
export function createPlainEnvironment(name: string): NonNullable<PolicyInput['environment']> {
  return { name, protection_rules: [], required_reviewers: [], required_reviewer_teams: [] }
}

/** An input without any evidence. */
export function createEmptyInput(now: Date): PolicyInput {
  return {
    now: now.toISOString(),
    repository: '',
    run: null,
    attempts: [],
    reports: [],
    attestations: [],
    artifacts: [],
    scans: [],
    evidence: NO_EVIDENCE,
    findings: NO_OPEN,
    issues: NO_OPEN,
    deployment: null,
    environment: null,
    ...NO_CHANGE,
    truncated: [],
  }
}
