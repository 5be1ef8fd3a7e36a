import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'
import { REPORT_FORMATS } from '../formats/report/parsed-report.ts'
import { RepositoryId, RepositoryName } from '../repositories/repository.schema.ts'
import { UPLOAD_ORIGINS } from '../vocabulary/finding.ts'

const UPLOAD_STATUSES = ['pending', 'queued', 'parsing', 'finished', 'failed'] as const

/** Body of createSecurityUpload. */
export const NewSecurityUpload = Closed({
  filename: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Name of the report file. Only the base name is kept.',
  }),
  size: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Exact size of the file in bytes.' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file in lowercase hex.' }),
  format: Type.Optional(
    OneOf(['auto', ...REPORT_FORMATS], {
      default: 'auto',
      description: 'Format of the report. `auto` detects it from the contents. A file of another format fails.',
    }),
  ),
  repository: RepositoryName('The scanned repository as `owner/name`.'),
  provider: Type.Optional(
    Nullable(
      OneOf(PROVIDERS, {
        description: 'The code host. Required if the name exists on more than one provider of the organization.',
      }),
    ),
  ),
  repositoryId: Type.Optional(
    Nullable(RepositoryId("The provider's id of the repository. Requires `provider`. By default found by name.")),
  ),
  category: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: '^[A-Za-z0-9._/:-]*$',
      description:
        'Separates several reports of one tool for the same repository and ref. A report closes only findings of its own category.',
    }),
  ),
  gitRef: Type.Optional(
    Type.String({ maxLength: 255, description: 'Branch or tag that was scanned. Empty means the tracked branch.' }),
  ),
  commitSha: Type.Optional(
    Type.String({ pattern: '^[0-9a-f]{7,40}$', description: 'Commit that was scanned, as full or abbreviated SHA.' }),
  ),
  tracked: Type.Optional(
    Type.Boolean({
      description:
        'Whether the findings open issues. By default they do if `gitRef` is the tracked branch of the repository.',
    }),
  ),
})
/** As validated: `format` has its default. */
export type NewSecurityUpload = Static<typeof NewSecurityUpload> & { format: 'auto' | (typeof REPORT_FORMATS)[number] }

export const UploadPath = Closed({
  uploadId: Type.String({ pattern: '^[0-9a-f]{32}$', description: 'The id of the upload.' }),
})

function Count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

const Counts = Closed(
  {
    findings: Count('Findings in the report. While the upload is `parsing`, those that were read so far.'),
    created: Count('Findings that the report contains for the first time.'),
    updated: Count('Stored findings that the report changed or reopened.'),
    unchanged: Count('Stored findings that the report did not change.'),
    resolved: Count('Stored findings that were closed because the report does not contain them.'),
    components: Count('Components or packages in a bill of materials.'),
    openBySeverity: Closed(
      {
        critical: Count('Open critical findings.'),
        high: Count('Open high findings.'),
        medium: Count('Open medium findings.'),
        low: Count('Open low findings.'),
      },
      { description: "All open findings of the report's tools, category and ref after the report was processed." },
    ),
    newIssues: Count('Issues that the report opened.'),
    newCritical: Count('Critical issues that the report opened.'),
    newHigh: Count('High issues that the report opened.'),
  },
  { description: 'What the report contains and changed. Complete when the upload is `finished`.' },
)

export const SecurityUpload = Closed(
  {
    id: Type.String({ description: '32 lowercase hex characters.' }),
    origin: OneOf(UPLOAD_ORIGINS, {
      description: 'How the report was submitted: `ui` in the console, `api` with this API, `report` by a CI report.',
    }),
    status: OneOf(UPLOAD_STATUSES, {
      description:
        '`pending` until the upload is completed, `queued` until a worker reads the file, `parsing` while it does, then `finished` or `failed`.',
    }),
    format: Nullable(OneOf(REPORT_FORMATS, { description: 'The detected format. Null until it is known.' })),
    filename: Type.String({ description: 'Base name of the file.' }),
    size: Type.Integer({ description: 'Size of the file in bytes.' }),
    repository: Type.String({ description: 'The scanned repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host. Null until it is known.' })),
    repository_id: Nullable(
      Type.String({ description: "The provider's id of the repository. Null until it is known." }),
    ),
    category: Nullable(Type.String({ description: 'The category of the upload, or the one in the report.' })),
    git_ref: Nullable(Type.String({ description: 'The ref that was scanned. Null if it is unknown.' })),
    commit_sha: Nullable(Type.String({ description: 'The commit that was scanned. Null if it is unknown.' })),
    tracked: Type.Boolean({ description: 'Whether the findings open issues.' }),
    counts: Counts,
    truncated: Type.Boolean({ description: 'Whether the report has more findings than the limit of 100,000.' }),
    warnings: Type.Array(Type.String(), {
      description: 'What was skipped or not closed, and why. For people to read.',
    }),
    error: Nullable(Type.String({ description: 'Why the upload failed. Null unless it is `failed`.' })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'SecurityUpload' },
)

export const CreatedUpload = Closed({
  upload: SecurityUpload,
  put: Nullable(
    Closed(
      {
        url: Type.String({ description: 'Where to PUT the file within 15 minutes. Send no API key.' }),
        headers: Type.Record(Type.String(), Type.String(), { description: 'Headers to send with the PUT request.' }),
      },
      { description: 'How to send the file. Null if the same file was uploaded before: nothing needs to be sent.' },
    ),
  ),
})

export const CompletedUpload = Closed({ upload: SecurityUpload })
