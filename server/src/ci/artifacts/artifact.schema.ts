import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

const ARTIFACTS_MAX = 50

const ArtifactItem = Closed({
  path: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'A relative path with `/` as separator, unique in the report.',
  }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'The size of the file in bytes.' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The SHA-256 checksum of the file in hexadecimal.' }),
})
export type ArtifactItem = Static<typeof ArtifactItem>

export const Artifacts = (options: { minItems?: number; default?: [] }) =>
  Type.Array(ArtifactItem, { maxItems: ARTIFACTS_MAX, description: 'The files to upload.', ...options })

/** Body of addCiArtifacts. */
export const NewArtifacts = Closed({ artifacts: Artifacts({ minItems: 1 }) })

/** Body of completeCiArtifacts. */
export const CompletedArtifacts = Closed({
  artifact_ids: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: ARTIFACTS_MAX,
    description: 'The `artifact_id` of each upload slot whose file has been sent.',
  }),
})

const UploadSlot = Closed({
  artifact_id: Type.String({ description: 'Identifies the artifact when you complete it.' }),
  path: Type.String(),
  url: Type.String({ description: 'The presigned URL. Send the bytes of the file to it, without an API key.' }),
  method: Type.Literal('PUT'),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'The headers of the PUT request. Send them exactly as they are.',
  }),
  expires_at: { ...Timestamp, description: 'When the URL stops working: 15 minutes after it was issued.' },
})

const Skipped = Closed({
  path: Type.String(),
  reason: OneOf(['already_uploaded', 'too_large', 'run_quota', 'monthly_quota'], {
    description:
      '`already_uploaded`: the report has this file. `too_large`, `run_quota`, `monthly_quota`: the plan does not ' +
      'allow the file.',
  }),
})
export type Skipped = Static<typeof Skipped>

/** Response fields of createCiReport and addCiArtifacts. */
export const uploadsAndSkipped = {
  uploads: Type.Array(UploadSlot, { description: 'One upload slot for each file to send.' }),
  skipped: Type.Array(Skipped, { description: 'Files that need no upload or that the plan does not allow.' }),
  warnings: Type.Array(Type.String()),
}

/** Response of addCiArtifacts. */
export const ArtifactsResult = Closed({ report_id: Type.String(), ...uploadsAndSkipped })

const Completion = Closed({
  artifact_id: Type.String(),
  status: OneOf(['uploaded', 'rejected', 'missing'], {
    description:
      '`uploaded`: the file matches its declared size and checksum. `rejected`: it does not, or the plan does not ' +
      'allow it, and it was deleted. `missing`: no file has been sent yet.',
  }),
  reason: Nullable(
    Type.String({
      description: '`size_mismatch`, `checksum_mismatch`, `run_quota` or `unknown_artifact`; null where none applies.',
    }),
  ),
})
export type Completion = Static<typeof Completion>

/** Response of completeCiArtifacts. */
export const CompletionResult = Closed({
  report_id: Type.String(),
  results: Type.Array(Completion, { description: 'One result for each id, in the order of the request.' }),
})
