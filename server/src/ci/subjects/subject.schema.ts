import { type Static, Type } from 'typebox'
import { Closed, Nullable } from '../../platform/http/schemas.ts'

export const SUBJECTS_MAX = 50
export const SUBJECT_NAME_CHARS_MAX = 300
export const MEDIA_TYPE_CHARS_MAX = 200
export const PLATFORM_CHARS_MAX = 100
/** No control characters. */
export const SUBJECT_TEXT_PATTERN = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'
export const SHA256_PATTERN = '^[0-9a-f]{64}$'

const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: SUBJECT_TEXT_PATTERN, description })
const digest = (of: string) =>
  Type.String({ pattern: SHA256_PATTERN, description: `The SHA-256 digest of ${of} in lowercase hexadecimal.` })

const SubjectItem = Closed({
  name: text(
    SUBJECT_NAME_CHARS_MAX,
    'What the digest is of. Of a container image, the repository without tag, such as `registry.example.com/app`.',
  ),
  sha256: digest('the subject: of a file its own, of a container image that of its manifest or index'),
  media_type: Type.Optional(
    text(MEDIA_TYPE_CHARS_MAX, 'The media type, such as `application/vnd.oci.image.index.v1+json`.'),
  ),
  platforms: Type.Optional(
    Type.Array(
      Closed({
        sha256: digest('the manifest'),
        platform: text(PLATFORM_CHARS_MAX, 'The platform, such as `linux/arm64`.'),
      }),
      { maxItems: SUBJECTS_MAX, description: 'The manifests of an image index. What is known of them is known of it.' },
    ),
  ),
})
export type SubjectItem = Static<typeof SubjectItem>

/** Subjects in a body: what was built, or is deployed. */
export const Subjects = (description: string) => Type.Array(SubjectItem, { maxItems: SUBJECTS_MAX, description })

const shown = {
  name: Type.String({ description: 'What the digest is of. Of a container image, the repository.' }),
  sha256: digest('the subject'),
  media_type: Nullable(Type.String({ description: 'The media type. Null if it is not known.' })),
  platforms: Type.Array(
    Closed({ sha256: digest('the manifest'), platform: Type.String({ description: 'The platform.' }) }),
    { description: 'The manifests of an image index. Empty for everything else.' },
  ),
}

/** A subject of a report. */
export const ReportedSubject = Closed(shown)

/** A subject of a deployment. */
export const DeployedSubject = Closed({
  ...shown,
  trust: Type.String({
    description:
      'How far the statement can be trusted: that of an OIDC token is `verified` or `untrusted`, that of an API key `self_reported`, and that of a person `ui`.',
  }),
  stated_after_decision: Type.Boolean({
    description: 'Whether it was stated when the gate was open or decided already. Such a subject proves nothing.',
  }),
  stated_by: Nullable(
    Type.String({ description: 'Who stated it after the gate was opened. Null for a subject of the gate or its run.' }),
  ),
})
