import { Type } from 'typebox'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { TRUST_CLASSES } from '../runs/trust.ts'
import { ATTESTATION_KINDS, ATTESTATION_STATUSES } from './attestation.ts'

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
    },
    { description: 'The job that sent the report.' },
  ),
  name: text('The name of the report.'),
  trust: trust('the report'),
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
