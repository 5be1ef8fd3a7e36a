import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

export const ARTIFACTS_MAX = 50

export const ArtifactItem = Closed({
  path: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The relative path of the file, with `/` as separator. Unique within the report.',
  }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'The size of the file in bytes.' }),
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The SHA-256 checksum of the file in lowercase hexadecimal.',
  }),
})
export type ArtifactItem = Static<typeof ArtifactItem>

export const Artifacts = (options: { minItems?: number; default?: [] }) =>
  Type.Array(ArtifactItem, { maxItems: ARTIFACTS_MAX, description: 'The artifacts to upload.', ...options })

/** Body of addCiArtifacts. */
export const NewArtifacts = Closed({ artifacts: Artifacts({ minItems: 1 }) })

/** Body of completeCiArtifacts. */
export const CompletedArtifacts = Closed({
  artifact_ids: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: ARTIFACTS_MAX,
    description: 'The ids of the artifacts whose files have been sent.',
  }),
})

const UploadSlot = Closed({
  artifact_id: Type.String({ description: 'The id of the artifact. Send it to completeCiArtifacts.' }),
  path: Type.String({ description: 'The path of the artifact.' }),
  url: Type.String({
    description: 'The presigned URL. Send the file to it with a PUT request within 15 minutes, without an API key.',
  }),
  method: Type.Literal('PUT', { description: 'The HTTP method of the upload.' }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'The headers of the PUT request. Send them exactly as they are.',
  }),
  expires_at: { ...Timestamp, description: 'When the URL expires: 15 minutes after it was created.' },
})

const Skipped = Closed({
  path: Type.String({ description: 'The path of the artifact.' }),
  reason: OneOf(['already_uploaded', 'too_large', 'run_quota', 'monthly_quota'], {
    description:
      '`already_uploaded` if the report contains the same file already, `too_large`, `run_quota` or `monthly_quota` if ' +
      'the file exceeds a limit of the plan.',
  }),
})
export type Skipped = Static<typeof Skipped>

/** Response fields of createCiReport and addCiArtifacts. */
export const uploadsAndSkipped = {
  uploads: Type.Array(UploadSlot, { description: 'One upload slot for each artifact to send.' }),
  skipped: Type.Array(Skipped, {
    description: 'The artifacts that do not need to be sent or that the plan does not allow.',
  }),
  warnings: Type.Array(Type.String(), { description: 'Sentences that state what the client should check.' }),
}

/** Response of addCiArtifacts. */
export const ArtifactsResult = Closed({
  report_id: Type.String({ description: 'The id of the report.' }),
  ...uploadsAndSkipped,
})

const Completion = Closed({
  artifact_id: Type.String({ description: 'The id of the artifact.' }),
  status: OneOf(['uploaded', 'rejected', 'missing'], {
    description:
      '`uploaded` if the file matches its declared size and checksum, `rejected` if it does not match or the plan does ' +
      'not allow it (the file was deleted), `missing` if no file has been sent.',
  }),
  reason: Nullable(
    Type.String({
      description:
        'The reason for `rejected` or `missing`: `size_mismatch`, `checksum_mismatch`, `run_quota` or `unknown_artifact`. Null if there is none.',
    }),
  ),
})
export type Completion = Static<typeof Completion>

/** Response of completeCiArtifacts. */
export const CompletionResult = Closed({
  report_id: Type.String({ description: 'The id of the report.' }),
  results: Type.Array(Completion, { description: 'One result for each id of the request, in the same order.' }),
})
