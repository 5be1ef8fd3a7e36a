import { type Static, Type } from 'typebox'
import { OneOf } from '../../platform/http/schemas.ts'
import { ARTIFACTS_MAX, ArtifactItem } from '../reports/artifact.schema.ts'
import { ATTESTATION_STATUSES } from '../reports/attestation.ts'
import {
  ATTESTATIONS_MAX,
  JOB_INSTANCE_PATTERN,
  JOB_KEY_CHARS_MAX,
  NAME_CHARS_MAX,
  RETRIES_MAX,
  RUNNER_CHARS_MAX,
  SUMMARY_BYTES_MAX,
} from '../reports/report.schema.ts'
import {
  MEDIA_TYPE_CHARS_MAX,
  PLATFORM_CHARS_MAX,
  SHA256_PATTERN,
  SUBJECT_NAME_CHARS_MAX,
  SUBJECT_TEXT_PATTERN,
  SUBJECTS_MAX,
} from '../subjects/subject.schema.ts'

/** A summary of 1 MiB, 20 attestations of 256 KiB and the artifacts fit. */
export const INGEST_BODY_BYTES_MAX = 8 * 2 ** 20

/*
 * The bodies of the ingest routes. Objects are open, because the fields of a newer client are
 * ignored. A field that may be absent may be null.
 */

const OptionalText = (options: { minLength?: number; maxLength: number; pattern?: string }) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], ...options }))

const OptionalName = OptionalText({ minLength: 1, maxLength: NAME_CHARS_MAX })

function OptionalList<Item extends object>(items: object, maxItems: number) {
  return Type.Optional(Type.Unsafe<Item[] | null>({ type: ['array', 'null'], items, maxItems }))
}

const IngestedAttestation = Type.Object({
  kind: Type.String({ minLength: 1, maxLength: 50 }),
  name: Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX }),
  status: Type.Optional(Type.Union([OneOf(ATTESTATION_STATUSES), Type.Null()])),
  data: Type.Object({}),
})
export type IngestedAttestation = Static<typeof IngestedAttestation>

const IngestedArtifact = Type.Object(ArtifactItem.properties)

const subjectText = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: SUBJECT_TEXT_PATTERN })
const sha256 = Type.String({ pattern: SHA256_PATTERN })
const IngestedPlatform = Type.Object({ sha256, platform: subjectText(PLATFORM_CHARS_MAX) })
const IngestedSubject = Type.Object({
  name: subjectText(SUBJECT_NAME_CHARS_MAX),
  sha256,
  mediaType: OptionalText({ minLength: 1, maxLength: MEDIA_TYPE_CHARS_MAX, pattern: SUBJECT_TEXT_PATTERN }),
  platforms: OptionalList<Static<typeof IngestedPlatform>>(IngestedPlatform, SUBJECTS_MAX),
})

export const IngestedReport = Type.Object({
  version: Type.Literal(1),
  job: Type.Object({
    name: OptionalName,
    matrix: Type.Optional(Type.Unknown()),
    runner: OptionalText({ maxLength: RUNNER_CHARS_MAX }),
    key: OptionalText({ minLength: 1, maxLength: JOB_KEY_CHARS_MAX }),
    instance: OptionalText({ minLength: 1, maxLength: JOB_KEY_CHARS_MAX, pattern: JOB_INSTANCE_PATTERN }),
    retries: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: RETRIES_MAX })),
  }),
  name: OptionalName,
  summary: OptionalText({ maxLength: SUMMARY_BYTES_MAX }),
  attestations: OptionalList<IngestedAttestation>(IngestedAttestation, ATTESTATIONS_MAX),
  artifacts: OptionalList<Static<typeof IngestedArtifact>>(IngestedArtifact, ARTIFACTS_MAX),
  subjects: OptionalList<Static<typeof IngestedSubject>>(IngestedSubject, SUBJECTS_MAX),
})
export type IngestedReport = Static<typeof IngestedReport>

export const IngestedCompletion = Type.Object({
  artifactIds: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: ARTIFACTS_MAX }),
})

/** A report id that is not well formed is answered like one that does not exist. */
export const IngestedReportPath = Type.Object({ reportId: Type.String() })
