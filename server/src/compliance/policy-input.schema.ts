import { type Static, Type } from 'typebox'
import { Closed, Nullable, Timestamp } from '../platform/http/schemas.ts'

const Text = Type.String()
const Count = Type.Integer({ minimum: 0 })
const TRUST =
  'Who says so: `self_reported` by a CI job about itself, `uploaded` by a client as a security report, `provider` by a code host.'
const Trust = Type.String({ description: TRUST })

const Run = Closed({
  id: Text,
  provider: Text,
  ci_system: Text,
  external_run_id: Text,
  repository: Text,
  ref: Nullable(Type.String({ description: 'As the run says it.' })),
  branch: Nullable(Type.String({ description: 'Null where the ref is a tag.' })),
  commit_sha: Text,
  pipeline_name: Text,
  event: Text,
  attempt: Count,
  status: Text,
  actor: Nullable(Text),
  started_at: Timestamp,
  completed_at: Nullable(Timestamp),
  trust: Trust,
})

const Attempt = Closed({
  number: Count,
  status: Text,
  started_at: Timestamp,
  completed_at: Nullable(Timestamp),
  trust: Trust,
})

const Report = Closed({
  id: Text,
  job: Text,
  name: Text,
  matrix: Nullable(Type.Record(Type.String(), Type.Unknown())),
  runner: Nullable(Text),
  at: Timestamp,
  trust: Trust,
})

const Attestation = Closed({
  report_id: Text,
  job: Text,
  kind: Type.String({ description: '`test-results`, `coverage`, `sbom`, `scan` or `custom`.' }),
  name: Text,
  status: Type.String({ description: '`pass`, `fail`, `warn` or `info`.' }),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'As the job sent it. Numbers are doubles.' }),
  at: Timestamp,
  trust: Trust,
})

const Artifact = Closed({ path: Text, size: Count, sha256: Text, at: Timestamp, trust: Trust })

const Scan = Closed({
  tool: Text,
  category: Nullable(Text),
  ref: Nullable(Text),
  commit_sha: Nullable(Text),
  at: Timestamp,
  trust: Trust,
})

const Severities = Closed({ critical: Count, high: Count, medium: Count, low: Count, info: Count })

/** Bad news counts whoever brings it, so figures of what is open are never left out. */
const OpenFigures = Closed({
  open: Severities,
  known_exploited: Type.Integer({
    minimum: 0,
    description: "Open ones in CISA's catalogue of exploited vulnerabilities.",
  }),
  max_epss: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The highest EPSS score among the open ones; 0 where none has one.',
  }),
})

/** What a policy decides by: one document, whichever engine reads it. Published as docs/policy-input.schema.json. */
export const PolicyInput = Closed({
  now: Timestamp,
  repository: Type.String({ description: '`host/owner/name`.' }),
  run: Nullable(Run),
  attempts: Type.Array(Attempt, { description: 'Of the run.' }),
  reports: Type.Array(Report, { description: "Of the run's attempt." }),
  attestations: Type.Array(Attestation, {
    description: "Of the run's attempt: failed ones first, then the newest; at most 1,000.",
  }),
  artifacts: Type.Array(Artifact, { description: "Completed ones of the run's attempt; at most 1,000." }),
  scans: Type.Array(Scan, {
    description: "The newest report of every security tool and category: of the run's branch, else of the tracked one.",
  }),
  findings: OpenFigures,
  issues: OpenFigures,
  deployment: Nullable(Closed({ id: Text, branch: Nullable(Text), commit_sha: Text, attempt: Count })),
  environment: Nullable(Closed({ name: Text })),
  truncated: Type.Array(Type.String(), { description: 'Names of lists, or of `data`, of which not all is here.' }),
})

export type PolicyInput = Static<typeof PolicyInput>
