import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'
import { REPORT_FORMATS } from '../formats/report/parsed-report.ts'
import { RepositoryId, RepositoryName } from '../repositories/repository.schema.ts'
import { UPLOAD_ORIGINS } from '../vocabulary/origin.ts'

export const UPLOAD_STATUSES = ['pending', 'queued', 'parsing', 'finished', 'failed'] as const

/** Body of createSecurityUpload. */
export const NewSecurityUpload = Closed({
  filename: Type.String({ minLength: 1, maxLength: 200, description: 'Only the base name is kept.' }),
  size: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Exact size in bytes.' }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  format: Type.Optional(OneOf(['auto', ...REPORT_FORMATS], { default: 'auto' })),
  repository: RepositoryName,
  provider: Type.Optional(Nullable(OneOf(PROVIDERS))),
  repositoryId: Type.Optional(Nullable(RepositoryId)),
  category: Type.Optional(Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9._/:-]*$' })),
  gitRef: Type.Optional(Type.String({ maxLength: 255, description: 'Branch or tag; empty means the tracked branch.' })),
  commitSha: Type.Optional(Type.String({ pattern: '^[0-9a-f]{7,40}$' })),
  tracked: Type.Optional(
    Type.Boolean({
      description: 'True opens findings whatever the branch, false never does; omitted: decided from gitRef.',
    }),
  ),
})
/** As validated: `format` has its default. */
export type NewSecurityUpload = Static<typeof NewSecurityUpload> & { format: 'auto' | (typeof REPORT_FORMATS)[number] }

export const UploadPath = Closed({ uploadId: Type.String({ pattern: '^[0-9a-f]{32}$' }) })

const Count = Type.Integer({ minimum: 0 })

export const SecurityUpload = Closed(
  {
    id: Type.String(),
    origin: OneOf(UPLOAD_ORIGINS),
    status: OneOf(UPLOAD_STATUSES),
    format: Nullable(OneOf(REPORT_FORMATS, { description: 'The detected format.' })),
    filename: Type.String(),
    size: Type.Integer(),
    repository: Type.String(),
    provider: Nullable(OneOf(PROVIDERS)),
    repository_id: Nullable(Type.String()),
    category: Nullable(Type.String()),
    git_ref: Nullable(Type.String()),
    commit_sha: Nullable(Type.String()),
    tracked: Type.Boolean(),
    counts: Closed({
      findings: Count,
      created: Count,
      updated: Count,
      unchanged: Count,
      resolved: Count,
      components: Count,
      openBySeverity: Closed({ critical: Count, high: Count, medium: Count, low: Count }),
      newIssues: Count,
      newCritical: Count,
      newHigh: Count,
    }),
    truncated: Type.Boolean(),
    warnings: Type.Array(Type.String()),
    error: Nullable(Type.String({ description: 'The reason of a failure.' })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'SecurityUpload' },
)

export const CreatedUpload = Closed({
  upload: SecurityUpload,
  put: Nullable(Closed({ url: Type.String(), headers: Type.Record(Type.String(), Type.String()) })),
})

export const CompletedUpload = Closed({ upload: SecurityUpload })
