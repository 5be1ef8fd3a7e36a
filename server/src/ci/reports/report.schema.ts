import { type Static, Type } from 'typebox'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { ATTESTATION_STATUSES } from './attestation.ts'
import type { Matrix } from './report-id.ts'

export const SUMMARY_BYTES_MAX = 2 ** 20
/** A 1 MiB summary with 20 attestations of 64 KiB fits. */
export const REPORT_BODY_BYTES_MAX = 4 * 2 ** 20
const ATTESTATIONS_MAX = 20
const ARTIFACTS_MAX = 50
const MATRIX_KEYS_MAX = 20

const Name = (options: { default?: string } = {}) => Type.String({ minLength: 1, maxLength: 100, ...options })

/** Every value is looked at; `Type.Record` would pass over those whose key holds a line break. */
const JobMatrix = Type.Unsafe<Matrix>({
  type: 'object',
  maxProperties: MATRIX_KEYS_MAX,
  propertyNames: { maxLength: 100 },
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: 500 },
})

const Job = Closed({
  name: Type.Optional(Name({ default: 'default' })),
  matrix: Type.Optional(JobMatrix),
  runner: Type.Optional(Type.String({ maxLength: 200 })),
})

const AttestationItem = Closed({
  kind: Type.String({ minLength: 1, maxLength: 50, description: 'test-results, coverage, sbom, scan or custom.' }),
  name: Name(),
  data: Type.Object(
    {},
    { additionalProperties: true, description: 'At most 64 KiB; what it holds depends on the kind.' },
  ),
  status: Type.Optional(
    OneOf(ATTESTATION_STATUSES, { description: 'Required for custom; derived from data for every other kind.' }),
  ),
})
export type AttestationItem = Static<typeof AttestationItem>

const ArtifactItem = Closed({
  path: Type.String({ minLength: 1, maxLength: 500, description: 'Relative, separated by /.' }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes.' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})
export type ArtifactItem = Static<typeof ArtifactItem>

export const NewCiReport = Closed({
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 999 })),
  job: Job,
  name: Type.Optional(Name({ default: 'default' })),
  summary: Type.Optional(Type.String({ maxLength: SUMMARY_BYTES_MAX, description: 'Markdown, at most 1 MiB.' })),
  attestations: Type.Optional(Type.Array(AttestationItem, { maxItems: ATTESTATIONS_MAX, default: [] })),
  artifacts: Type.Optional(Type.Array(ArtifactItem, { maxItems: ARTIFACTS_MAX, default: [] })),
})
/** As validated: the fields with a default are there. */
export type NewCiReport = Static<typeof NewCiReport> &
  Required<Pick<Static<typeof NewCiReport>, 'name' | 'attestations' | 'artifacts'>> & { job: { name: string } }

export const NewAttestations = Closed({
  attestations: Type.Array(AttestationItem, { minItems: 1, maxItems: ATTESTATIONS_MAX }),
})
export const NewArtifacts = Closed({ artifacts: Type.Array(ArtifactItem, { minItems: 1, maxItems: ARTIFACTS_MAX }) })
export const CompletedArtifacts = Closed({
  artifact_ids: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: ARTIFACTS_MAX }),
})

export const ReportsPath = Closed({ run_id: ItemId })
export const ReportPath = Closed({
  run_id: ItemId,
  report_id: Type.String({ pattern: '^[1-9]\\d{0,2}-[0-9a-f]{24}$' }),
})

const UploadSlot = Closed({
  artifact_id: Type.String(),
  path: Type.String(),
  url: Type.String({ description: 'PUT the file here before expires_at.' }),
  method: Type.Literal('PUT'),
  headers: Type.Record(Type.String(), Type.String(), { description: 'To be sent exactly.' }),
  expires_at: Timestamp,
})

const Skipped = Closed({
  path: Type.String(),
  reason: OneOf(['already_uploaded', 'too_large', 'run_quota', 'monthly_quota']),
})

const uploadsAndSkipped = {
  uploads: Type.Array(UploadSlot),
  skipped: Type.Array(Skipped),
  warnings: Type.Array(Type.String()),
}

export const CiReportResult = Closed(
  {
    report_id: Type.String(),
    run_id: Type.String(),
    attempt: Type.Integer(),
    url: Type.String(),
    trust: Type.String(),
    ...uploadsAndSkipped,
  },
  { $id: 'CiReportResult' },
)

export const AttestationsResult = Closed({
  report_id: Type.String(),
  attestations: Type.Array(
    Closed({ id: Type.String(), kind: Type.String(), name: Type.String(), status: OneOf(ATTESTATION_STATUSES) }),
  ),
  warnings: Type.Array(Type.String()),
})

export const ArtifactsResult = Closed({ report_id: Type.String(), ...uploadsAndSkipped })

export const CompletionResult = Closed({
  report_id: Type.String(),
  results: Type.Array(
    Closed({
      artifact_id: Type.String(),
      status: OneOf(['uploaded', 'rejected', 'missing']),
      reason: Nullable(Type.String()),
    }),
  ),
})
