import { type Static, Type } from 'typebox'
import { Reason } from '../audit/audit.schema.ts'
import { GLOB_CHARS_MAX } from '../platform/glob.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { PATTERNS_MAX, SCOPES } from './scopes.ts'

const REPOSITORIES =
  'Globs of the repositories that the key speaks about, with or without their host. It states, uploads and answers nothing about others.'
const ENVIRONMENTS = ['production', 'development'] as const

const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })
const MaybeTime = (description: string) => Nullable(Time(description))

export const NewApiKey = Closed({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'The name of the key. It need not be unique.' }),
  scopes: Type.Array(OneOf(SCOPES), {
    minItems: 1,
    maxItems: 50,
    description: 'What the key can do. Each scope requires a permission that your role must have.',
  }),
  environment: Type.Optional(
    OneOf(ENVIRONMENTS, {
      description: 'The environment whose servers accept the key. Defaults to that of this server.',
    }),
  ),
  expires_at: Type.Optional(
    Nullable({
      ...Timestamp,
      description: 'When the key expires, at most ten years from now. Null or absent: never.',
    }),
  ),
  repositories: Type.Optional(
    Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: GLOB_CHARS_MAX }), {
        minItems: 1,
        maxItems: PATTERNS_MAX,
        description: `${REPOSITORIES} Null or absent: all.`,
      }),
    ),
  ),
  reason: Reason,
})
export type NewApiKey = Static<typeof NewApiKey>

const FIELDS = {
  id: Type.String({ description: 'The id of the key.' }),
  name: Type.String({ description: 'The name of the key.' }),
  scopes: Type.Array(OneOf(SCOPES), { description: 'What the key can do.' }),
  environment: OneOf(ENVIRONMENTS, { description: 'The environment whose servers accept the key.' }),
  created_by: Type.String({ description: 'The name of the person who created the key, or `command line`.' }),
  created_by_user_id: Nullable(
    Type.String({ description: 'The id of the person who created the key. Null if no person did.' }),
  ),
  created_at: Time('When the key was created.'),
  expires_at: MaybeTime('When the key expires. Null if it does not expire.'),
  revoked_at: MaybeTime('When the key was revoked. Null if it is not revoked.'),
  repositories: Nullable(Type.Array(Type.String(), { description: `${REPOSITORIES} Null: all.` })),
  last_used_at: MaybeTime('When the key was last used, to the minute. Null if it was never used.'),
  reach: Type.String({ description: 'What the key may state, close and answer, in words.' }),
}

/** An API key without its secret, which is not stored. */
export const ListedApiKey = Closed(FIELDS, { $id: 'ApiKey', description: 'An API key. Its secret is not shown.' })

export const CreatedApiKey = Closed({
  ...FIELDS,
  key: Type.String({ description: 'The key itself. It is shown only once, and cannot be recovered.' }),
})
