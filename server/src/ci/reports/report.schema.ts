import { type Static, Type } from 'typebox'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { ExpectedRun, TrustLevel } from '../runs/run.schema.ts'
import { TRUST_CLASSES } from '../runs/trust.ts'
import { ReportedSubject, Subjects } from '../subjects/subject.schema.ts'
import { Artifacts, uploadsAndSkipped } from './artifact.schema.ts'
import { ATTESTATION_KINDS, ATTESTATION_STATUSES } from './attestation.ts'

export const SUMMARY_BYTES_MAX = 2 ** 20
/** A summary of 1 MiB and 20 attestations of 64 KiB fit. */
export const REPORT_BODY_BYTES_MAX = 4 * 2 ** 20
export const ATTESTATIONS_MAX = 20

export const NAME_CHARS_MAX = 100
export const RUNNER_CHARS_MAX = 200
export const JOB_KEY_CHARS_MAX = 200
export const RETRIES_MAX = 999
/** No control characters. Names of runners, which can stand for an id, have spaces. */
export const JOB_INSTANCE_PATTERN = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'

const Name = (options: { default?: string; description?: string }) =>
  Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX, ...options })

export type Matrix = Record<string, unknown>

/** The limits of a matrix. An object as a value occurs only in matrices of the ingest routes. */
export const MATRIX_KEYS_MAX = 20
export const MATRIX_KEY_CHARS_MAX = 100
export const MATRIX_TEXT_CHARS_MAX = 500

/**
 * Not `Type.Record`, whose pattern for keys does not match a line break: such a key would escape
 * validation.
 */
const JobMatrix = Type.Unsafe<Matrix>({
  type: 'object',
  maxProperties: MATRIX_KEYS_MAX,
  propertyNames: { maxLength: MATRIX_KEY_CHARS_MAX },
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: MATRIX_TEXT_CHARS_MAX },
  description: 'The matrix values of the job, such as `{"os": "linux", "node": 24}`.',
})

/** The id of an execution of a job, in reports and gates. */
export function JobInstance(description: string) {
  return Type.String({ minLength: 1, maxLength: JOB_KEY_CHARS_MAX, pattern: JOB_INSTANCE_PATTERN, description })
}

const Job = Closed(
  {
    name: Type.Optional(Name({ default: 'default', description: 'The name of the job.' })),
    matrix: Type.Optional(JobMatrix),
    runner: Type.Optional(
      Type.String({
        maxLength: RUNNER_CHARS_MAX,
        description:
          'The name of the machine that ran the job. If a report of another runner is replaced, the response contains a warning.',
      }),
    ),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: JOB_KEY_CHARS_MAX,
        description:
          'What the CI system calls the job inside the run: equal for every try of the job, and different for every other job.',
      }),
    ),
    instance: Type.Optional(
      JobInstance(
        'The id of this one execution of the job in the CI system. Without `key`, it tells jobs with one name apart. Defaults to that of the OIDC token of the run.',
      ),
    ),
    retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: RETRIES_MAX,
        description:
          'How many tries of the job there were before this one. A report with fewer than the stored one replaces nothing.',
      }),
    ),
  },
  { description: 'The job that the report belongs to.' },
)

const AttestationItem = Closed({
  kind: Type.String({
    minLength: 1,
    maxLength: 50,
    description: 'The kind of the attestation: `test-results`, `coverage`, `sbom`, `scan` or `custom`.',
  }),
  name: Name({ description: 'The name of the attestation. Kind and name identify an attestation within its report.' }),
  data: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'The data of the attestation, at most 64 KiB of JSON. The required fields depend on the kind.',
    },
  ),
  status: Type.Optional(
    OneOf(ATTESTATION_STATUSES, {
      description:
        'The status of the attestation. Required for `custom`. For every other kind, it is derived from `data`.',
    }),
  ),
})
export type AttestationItem = Static<typeof AttestationItem>

const Attestations = (options: { minItems?: number; default?: [] }) =>
  Type.Array(AttestationItem, { maxItems: ATTESTATIONS_MAX, description: 'The attestations of the job.', ...options })

/** Body of createCiReport. */
export const NewCiReport = Closed({
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999,
      description:
        'The attempt that the job belongs to. Defaults to the newest attempt, or to the attempt of the OIDC token.',
    }),
  ),
  expect: Type.Optional(ExpectedRun),
  job: Job,
  name: Type.Optional(
    Name({ default: 'default', description: 'The name of the report. It separates several reports of one job.' }),
  ),
  summary: Type.Optional(
    Type.String({ maxLength: SUMMARY_BYTES_MAX, description: 'The summary of the job in Markdown, at most 1 MiB.' }),
  ),
  attestations: Type.Optional(Attestations({ default: [] })),
  artifacts: Type.Optional(Artifacts({ default: [] })),
  subjects: Type.Optional(
    Subjects(
      'What the job built and does not upload, such as container images, by digest. They replace those of the stored report.',
    ),
  ),
})
/** The validated body: fields with a default are always present. */
export type NewCiReport = Static<typeof NewCiReport> &
  Required<Pick<Static<typeof NewCiReport>, 'name' | 'attestations' | 'artifacts'>> & { job: { name: string } }

/** Body of addCiAttestations. */
export const NewAttestations = Closed({ attestations: Attestations({ minItems: 1 }) })

export const ReportsPath = Closed({ run_id: { ...ItemId, description: 'The id of the run.' } })
const StandsBeside = Nullable(
  Type.String({
    description:
      'The id of the most trustworthy report of the same job that credentials of another trust level have sent. Neither replaces the other. Null if there is none.',
  }),
)
export const REPORT_ID = /^[1-9]\d{0,2}-[0-9a-f]{24}$/

export const ReportPath = Closed({
  ...ReportsPath.properties,
  report_id: Type.String({
    pattern: REPORT_ID.source,
    description: 'The id of the report, as returned by createCiReport.',
  }),
})
export type ReportPath = Static<typeof ReportPath>

/** Response of createCiReport (specification, "CI report result"). */
export const CiReportResult = Closed(
  {
    report_id: Type.String({
      description:
        'The id of the report. It is the same for every report with the same attempt, job, matrix, name and trust level, and the same `key`, or without one `instance`.',
    }),
    run_id: Type.String({ description: 'The id of the run.' }),
    attempt: Type.Integer({ description: 'The attempt that the report belongs to.' }),
    url: Type.String({ description: 'The URL of the report in the console.' }),
    trust: TrustLevel(
      'The trust level of the report: `verified` from the OIDC token of its run, `untrusted` if code of strangers may have run in that job, else `self_reported`.',
    ),
    stands_beside: StandsBeside,
    ...uploadsAndSkipped,
  },
  { $id: 'CiReportResult', description: 'A stored job report, with the upload slots of its artifacts.' },
)

/** Response of addCiAttestations. */
export const AttestationsResult = Closed({
  report_id: Type.String({ description: 'The id of the report.' }),
  attestations: Type.Array(
    Closed({
      id: Type.String({ description: 'The id of the attestation.' }),
      kind: Type.String({ description: 'The kind of the attestation.' }),
      name: Type.String({ description: 'The name of the attestation.' }),
      status: OneOf(ATTESTATION_STATUSES, { description: 'The status of the attestation.' }),
    }),
    { description: 'The attestations of the request, in the same order.' },
  ),
  warnings: Type.Array(Type.String(), { description: 'Sentences that state what the client should check.' }),
})

const text = (description: string) => Type.String({ description })
const time = (description: string) => Type.String({ ...Timestamp, description })
const trust = (of: string) =>
  OneOf(TRUST_CLASSES, {
    description: `The trust level of ${of}: \`verified\` from the OIDC token of its run, \`untrusted\` if code of strangers may have run in that job, else \`self_reported\`.`,
  })

export const StoredReportQuery = definePageQuery(100, 50, {})

const ListedAttestation = {
  id: text('The id of the attestation.'),
  kind: OneOf(ATTESTATION_KINDS, { description: 'The kind of the attestation.' }),
  name: text('The name of the attestation.'),
  status: OneOf(ATTESTATION_STATUSES, { description: 'The status of the attestation.' }),
  trust: trust('the attestation'),
  updated_at: time('When the attestation was last updated.'),
}

const report = {
  id: text('The id of the report.'),
  run_id: text('The id of the run.'),
  attempt: Type.Integer({ description: 'The attempt that the report belongs to.' }),
  job: Closed(
    {
      name: text('The name of the job.'),
      matrix: Nullable(
        Type.Record(Type.String(), Type.Unknown(), { description: 'The matrix values of the job. Null for none.' }),
      ),
      runner: Nullable(
        Type.String({ description: 'The name of the machine that ran the job. Null if it is not known.' }),
      ),
      key: Nullable(text('What the CI system calls the job inside the run. Null if it is not known.')),
      instance: Nullable(text('The id of the execution of the job in the CI system. Null if it is not known.')),
      retries: Nullable(
        Type.Integer({ description: 'How many tries of the job there were before this one. Null if it is not known.' }),
      ),
    },
    { description: 'The job that sent the report.' },
  ),
  name: text('The name of the report.'),
  trust: trust('the report'),
  stands_beside: StandsBeside,
  artifact_count: Type.Integer({ minimum: 0, description: 'The number of artifacts of the report.' }),
  created_at: time('When the report was created.'),
  updated_at: time('When the report was last updated.'),
}

export const ListedReport = Closed(
  {
    ...report,
    has_summary: Type.Boolean({ description: 'Whether the report has a summary.' }),
    attestations: Type.Array(Closed(ListedAttestation), {
      description: 'The attestations of the report without their data, by kind and name.',
    }),
  },
  { $id: 'ListedReport', description: 'A job report of a run.' },
)

export const StoredReport = Closed(
  {
    ...report,
    summary: Nullable(
      Type.String({
        description: 'The summary of the job in Markdown, as it was sent. Sanitize it before you show it.',
      }),
    ),
    subjects: Type.Array(ReportedSubject, {
      description: 'What the job built and did not upload, such as container images, by digest.',
    }),
    attestations: Type.Array(
      Closed({
        ...ListedAttestation,
        data: Type.Record(Type.String(), Type.Unknown(), {
          description:
            'The data of the attestation, as it was sent. Figures that the job did not send were read from the named file.',
        }),
      }),
      { description: 'The attestations of the report, by kind and name.' },
    ),
  },
  { $id: 'StoredReport', description: 'A job report of a run, with its summary and the data of its attestations.' },
)

export const StoredArtifact = Closed(
  {
    id: text('The id of the artifact.'),
    run_id: text('The id of the run.'),
    report_id: text('The id of the report.'),
    job_name: text('The name of the job that declared the artifact.'),
    path: text('The path of the file, relative and with `/` as separator. Unique within the report.'),
    size: Type.Integer({ minimum: 0, description: 'The size of the file in bytes.' }),
    sha256: text('The SHA-256 checksum of the file in lowercase hexadecimal.'),
    status: OneOf(['pending', 'uploaded', 'rejected'], {
      description:
        '`pending` until the file was sent and verified, `uploaded` if it can be downloaded, `rejected` if it did not match its declared size or checksum or exceeded a limit of the plan.',
    }),
    trust: trust('the artifact'),
    created_at: time('When the artifact was declared.'),
  },
  { $id: 'StoredArtifact', description: 'A file that a job declared.' },
)
