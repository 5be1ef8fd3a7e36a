import { type Static, Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { countFilter, definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UPLOAD_FORMATS, type UploadFormat, VEX_FORMATS } from '../formats/catalogue.ts'
import { defineRepositoryId, defineRepositoryName, repositoryFilters } from '../repositories/repository.schema.ts'
import { SHOWN_LANES, SHOWN_LANES_TEXT, UPLOAD_ORIGINS, UPLOAD_STATUSES } from '../vocabulary/finding.ts'

/** Body of createSecurityUpload. */
export const NewSecurityUpload = Closed({
  filename: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The name of the report file. Only the base name is kept.',
  }),
  size: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The exact size of the file in bytes.',
  }),
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The SHA-256 checksum of the file in lowercase hexadecimal.',
  }),
  format: Type.Optional(
    OneOf(['auto', ...UPLOAD_FORMATS], {
      default: 'auto',
      description: `The format of the file: a report with findings, or a VEX document (${VEX_FORMATS.map((format) => `\`${format}\``).join(' or ')}), whose statements dismiss findings of the repository. \`auto\` detects it from the contents. An upload fails if its file has another format.`,
    }),
  ),
  repository: defineRepositoryName('The repository as `owner/name`.'),
  provider: Type.Optional(
    Nullable(
      OneOf(PROVIDERS, {
        description:
          'The code host of the repository. Required if the name exists on more than one code host of the organization.',
      }),
    ),
  ),
  repositoryId: Type.Optional(
    Nullable(
      defineRepositoryId(
        'The id of the repository on the code host. Requires `provider`. Defaults to the id of the repository with this name.',
      ),
    ),
  ),
  category: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: '^[A-Za-z0-9._/:-]*$',
      description:
        'Separates several reports of one scanner for the same repository and ref. A report closes only findings of its own category.',
    }),
  ),
  gitRef: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'The branch or tag that was scanned. Defaults to the tracked branch of the repository.',
    }),
  ),
  commitSha: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{7,40}$',
      description: 'The commit that was scanned, as a full or abbreviated SHA.',
    }),
  ),
  tracked: Type.Optional(
    Type.Boolean({
      description:
        'Whether the findings can open issues. Defaults to true if `gitRef` is the tracked branch of the repository. If that is not known, to true unless it is of a pull or merge request or a merge queue.',
    }),
  ),
  complete: Type.Optional(
    Type.Boolean({
      description:
        'True if the report has all that the scanner finds: it closes what it lacks, unless it states a failure or is cut. False if it has a part, such as the changed files: it closes nothing. By default the report itself decides.',
    }),
  ),
})
/** As validated: `format` has its default. */
export type NewSecurityUpload = Static<typeof NewSecurityUpload> & { format: 'auto' | UploadFormat }

export const UploadQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  ...repositoryFilters,
  status: Type.Optional(OneOf(UPLOAD_STATUSES, { description: 'Return only uploads with this status.' })),
  run_id: Type.Optional(
    Type.String({ ...ItemId, description: 'Return only reports that jobs of the run with this id sent as artifacts.' }),
  ),
})

export const UploadPath = Closed({
  uploadId: Type.String({ pattern: '^[0-9a-f]{32}$', description: 'The id of the upload.' }),
})

function Count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

const Counts = Closed(
  {
    findings: Count(
      'The number of findings in the report. While the upload is `parsing`, the number that was read so far.',
    ),
    created: Count('The number of findings that were stored for the first time.'),
    updated: Count(
      'The number of stored findings that the report changed or reopened, or that a VEX document dismissed or reopened.',
    ),
    unchanged: Count('The number of stored findings that the report contains and did not change.'),
    resolved: Count('The number of stored findings that were closed because the report does not contain them.'),
    components: Count('The number of components or packages in a bill of materials.'),
    openBySeverity: Closed(
      {
        critical: Count('The number of critical findings.'),
        high: Count('The number of high findings.'),
        medium: Count('The number of medium findings.'),
        low: Count('The number of low findings.'),
      },
      {
        description:
          "All findings of the report's scanners, category and ref that are open after the report was processed.",
      },
    ),
    newIssues: Count('The number of issues that the report opened, also again.'),
    newCritical: Count('The number of critical issues that the report opened.'),
    newHigh: Count('The number of high issues that the report opened.'),
    matches: Closed(
      {
        opened: Count('The number of findings of the inventory that the document opened, also again.'),
        closed: Count('The number of findings of the inventory that the document closed.'),
      },
      { description: 'What a bill of materials changed of the matches of its components with stored advisories.' },
    ),
  },
  { description: 'The contents of the report and the changes that it made. Complete when the upload is `finished`.' },
)

export const SecurityUpload = Closed(
  {
    id: Type.String({ description: 'The id of the upload.' }),
    origin: OneOf(UPLOAD_ORIGINS, {
      description:
        'How the file was sent: with the console (`ui`), with this API (`api`) or as an artifact of a CI report (`report`).',
    }),
    status: OneOf(UPLOAD_STATUSES, {
      description:
        '`pending` until the upload is completed, `queued` until a worker reads the file, `parsing` while a worker reads it, then `finished` or `failed`.',
    }),
    format: Nullable(
      OneOf(UPLOAD_FORMATS, { description: 'The detected format of the report. Null until it is detected.' }),
    ),
    filename: Type.String({ description: 'The base name of the report file.' }),
    size: Type.Integer({ description: 'The size of the file in bytes.' }),
    repository: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host of the repository. Null if it is not known.' })),
    repository_id: Nullable(
      Type.String({ description: 'The id of the repository on the code host. Null if it is not known.' }),
    ),
    category: Nullable(
      Type.String({ description: 'The category of the report, as sent or as the report itself states it.' }),
    ),
    git_ref: Nullable(Type.String({ description: 'The branch or tag that was scanned. Null if it is not known.' })),
    commit_sha: Nullable(Type.String({ description: 'The commit that was scanned. Null if it is not known.' })),
    tracked: Type.Boolean({ description: 'Whether the findings can open issues.' }),
    lanes: Type.Array(
      Closed({
        trust: OneOf(SHOWN_LANES, {
          description: `Who sent the file: ${SHOWN_LANES_TEXT}`,
        }),
        commit_sha: Nullable(Type.String({ description: 'The commit that it was last sent for.' })),
        tracked: Type.Boolean({ description: 'Whether the findings can open issues.' }),
        complete: Nullable(
          Type.Boolean({
            description: 'Whether it was stated that the report is complete. Null if nothing was stated.',
          }),
        ),
        reported_at: { ...Timestamp, description: 'When it was last sent.' },
      }),
      {
        description:
          'Who sent the same file, the latest last. The findings of each are kept apart: no report of another one closes them.',
      },
    ),
    counts: Counts,
    truncated: Type.Boolean({
      description: 'True if the report has more than 100,000 findings. Only the first 100,000 are stored.',
    }),
    held: Nullable(
      Closed({
        findings: Count('The number of open findings that the report lacks and that it did not close.'),
        reasons: Type.Array(Type.String(), { description: 'Sentences that state why.' }),
      }),
      {
        description:
          'What stays open because the report may be incomplete. It closes when somebody confirms the upload, or when the next report lacks the same. Null if the report closed all that it lacks.',
      },
    ),
    warnings: Type.Array(Type.String(), {
      description: 'Sentences that state which parts of the report were skipped, and why findings were not closed.',
    }),
    awaits_confirmation: Type.Boolean({
      description:
        'True for a VEX document of a sender who may not triage. It changes nothing until somebody else confirms it.',
    }),
    error: Nullable(Type.String({ description: 'The reason for the failure. Null unless `status` is `failed`.' })),
    run_id: Nullable(
      Type.String({ description: 'The id of the run whose job sent the file as an artifact. Null for other uploads.' }),
    ),
    artifact_id: Nullable(Type.String({ description: 'The id of that artifact. Null for other uploads.' })),
    created_by: Nullable(
      Closed({
        type: OneOf(['api_key', 'user'], { description: 'The kind of principal.' }),
        id: Type.String({ description: 'The id of the user or API key.' }),
        name: Type.String({ description: 'The name of the user or API key when the upload was created.' }),
      }),
      { description: 'Who created the upload. Null for a CI job, and if that is not known.' },
    ),
    created_at: { ...Timestamp, description: 'When the upload was created.' },
    updated_at: { ...Timestamp, description: 'When the upload was last updated.' },
  },
  { $id: 'SecurityUpload', description: 'An uploaded security report.' },
)

export const CreatedUpload = Closed({
  upload: SecurityUpload,
  put: Nullable(
    Closed(
      {
        url: Type.String({
          description:
            'The presigned URL. Send the file to it with a PUT request within 15 minutes, without an API key.',
        }),
        headers: Type.Record(Type.String(), Type.String(), {
          description: 'The headers of the PUT request. Send them exactly as they are.',
        }),
      },
      {
        description:
          'The PUT request that sends the file. Null if the file is stored already and does not need to be sent.',
      },
    ),
  ),
})

export const CompletedUpload = Closed({ upload: SecurityUpload })
