import { type Static, Type } from 'typebox'
import { Closed, Nullable } from '../../platform/http/schemas.ts'

const TIMESTAMP = { format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] }
const Text = (description: string) => Type.String({ description })
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Time = (description: string) => Type.String({ ...TIMESTAMP, description })
const Trust = Text(
  'Who reported it: `self_reported` by a CI job, `uploaded` by an API client as a security report, `provider` by the code host.',
)

const Run = Closed(
  {
    id: Text('Id of the run.'),
    provider: Text('Code host that the run belongs to.'),
    ci_system: Text('CI system that reported the run.'),
    external_run_id: Text('Id of the run in the CI system.'),
    repository: Text('Repository as `host/owner/name`.'),
    ref: Nullable(Text('Git ref as reported by the run.')),
    branch: Nullable(Text('Branch name. Null if the ref is a tag.')),
    commit_sha: Text('Commit that the run built.'),
    pipeline_name: Text('Name of the pipeline.'),
    event: Text('Event that started the run, such as `push`.'),
    attempt: Count('Number of the attempt, from 1.'),
    status: Text('Status of the attempt, such as `in_progress` or `success`.'),
    actor: Nullable(Text('User or service that started the run.')),
    started_at: Time('When the attempt started.'),
    completed_at: Nullable(Time('When the attempt ended.')),
    trust: Trust,
  },
  { description: 'The CI run. Null if there is none, or if the rule does not accept its trust.' },
)

const Attempt = Closed({
  number: Count('Number of the attempt, from 1.'),
  status: Text('Status of the attempt, such as `in_progress` or `success`.'),
  started_at: Time('When the attempt started.'),
  completed_at: Nullable(Time('When the attempt ended.')),
  trust: Trust,
})

const Report = Closed({
  id: Text('Id of the report.'),
  job: Text('Name of the job that sent the report.'),
  name: Text('Name of the report.'),
  matrix: Nullable(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Matrix values of the job, such as `{"os": "linux"}`.' }),
  ),
  runner: Nullable(Text('Name of the machine that ran the job.')),
  at: Time('When the report was last changed.'),
  trust: Trust,
})

const Attestation = Closed({
  report_id: Text('Id of the report that contains the attestation.'),
  job: Text('Name of the job that sent the attestation.'),
  kind: Text('`test-results`, `coverage`, `sbom`, `scan` or `custom`.'),
  name: Text('Name of the attestation.'),
  status: Text('`pass`, `fail`, `warn` or `info`.'),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Data as the job sent it. Numbers are doubles in CEL.',
  }),
  at: Time('When the attestation was last sent.'),
  trust: Trust,
})

const Artifact = Closed({
  path: Text('Path of the artifact within the report.'),
  size: Count('Size in bytes.'),
  sha256: Text('SHA-256 of the content, in lowercase hexadecimal.'),
  at: Time('When the artifact was added.'),
  trust: Trust,
})

const Scan = Closed({
  tool: Text('Name of the scanner.'),
  category: Nullable(Text('Category that tells reports of one scanner apart.')),
  ref: Nullable(Text('Branch or other ref that was scanned.')),
  commit_sha: Nullable(Text('Commit that was scanned.')),
  at: Time('When the report was read.'),
  trust: Trust,
})

const SeverityCounts = Closed(
  {
    critical: Count('Number with severity critical.'),
    high: Count('Number with severity high.'),
    medium: Count('Number with severity medium.'),
    low: Count('Number with severity low.'),
    info: Count('Number with severity info.'),
  },
  { description: 'Number of open ones by severity.' },
)

/** Rules see these counts whatever `trust` and `max_age` they have. */
const openCounts = (description: string) =>
  Closed(
    {
      open: SeverityCounts,
      known_exploited: Count("Number of open ones in CISA's catalog of known exploited vulnerabilities."),
      max_epss: Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Highest EPSS score of the open ones. 0 if none has a score.',
      }),
    },
    { description },
  )

const Deployment = Closed(
  {
    id: Text('Id of the deployment.'),
    branch: Nullable(Text('Branch that is deployed. Null for a tag.')),
    commit_sha: Text('Commit that is deployed.'),
    attempt: Count('Attempt of the run that asks for the deployment.'),
  },
  { description: 'The deployment. Null when a compliance result is evaluated.' },
)

/** The document that every policy engine evaluates. Published as docs/policy-input.schema.json. */
export const PolicyInput = Closed({
  now: Time('When the policy is evaluated.'),
  repository: Text('Repository as `host/owner/name`.'),
  run: Nullable(Run),
  attempts: Type.Array(Attempt, { description: 'Attempts of the run.' }),
  reports: Type.Array(Report, { description: "Job reports of the run's attempt." }),
  attestations: Type.Array(Attestation, {
    description: "Attestations of the run's attempt: failed ones first, then the newest; at most 1,000.",
  }),
  artifacts: Type.Array(Artifact, { description: "Completed artifacts of the run's attempt; at most 1,000." }),
  scans: Type.Array(Scan, {
    description:
      "The newest security report of every scanner and category, of the run's branch or else of the tracked branch.",
  }),
  findings: openCounts('Open findings of the reports in `scans`.'),
  issues: openCounts('Open issues of the repository.'),
  deployment: Nullable(Deployment),
  environment: Nullable(
    Closed({ name: Text('Name of the environment.') }, { description: 'The target environment of the deployment.' }),
  ),
  truncated: Type.Array(Type.String(), {
    description: 'Names of the lists that are incomplete. `data` stands for the data of attestations.',
  }),
})
export type PolicyInput = Static<typeof PolicyInput>

const NO_OPEN = { open: { critical: 0, high: 0, medium: 0, low: 0, info: 0 }, known_exploited: 0, max_epss: 0 }

/** An input without any evidence. */
export function emptyInput(now: Date): PolicyInput {
  return {
    now: now.toISOString(),
    repository: '',
    run: null,
    attempts: [],
    reports: [],
    attestations: [],
    artifacts: [],
    scans: [],
    findings: NO_OPEN,
    issues: NO_OPEN,
    deployment: null,
    environment: null,
    truncated: [],
  }
}
