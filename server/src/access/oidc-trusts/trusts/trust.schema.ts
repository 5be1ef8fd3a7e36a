import { type Static, type TString, Type } from 'typebox'
import { Reason } from '../../../audit/author.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts'
import type { Conditions as TrustConditions } from '../conditions/conditions.ts'
import { TRUST_PROVIDERS } from '../token-job.ts'
import { TRUST_SCOPES } from './trust-request.ts'

const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })
const MaybeTime = (description: string) => Nullable(Time(description))
const Text = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description })
const ISSUER = 'The claim `iss` of the tokens: an https URL without query.'
const AUDIENCE = 'The claim `aud` of the tokens.'
const PROVIDER = 'Whose claims the tokens have.'
const CONDITIONS =
  'The claims that must match, by name. The value is a glob, or a list of which one has to match. `*` stays within a part of a path, `**` does not.'

const Conditions = (value: TString, description: string) =>
  Type.Record(Type.String(), Type.Union([value, Type.Array(value)]), { description })

export const NewTrust = Closed({
  name: Text('The name of the trust. It need not be unique.', 100),
  issuer: Text(ISSUER, 500),
  audience: Type.Optional(Text(`${AUDIENCE} Defaults to the origin of the base URL of this server.`, 500)),
  provider: Type.Optional(
    Nullable(
      OneOf(TRUST_PROVIDERS, {
        description: `${PROVIDER} Null or absent: derived from the issuer and the conditions.`,
      }),
    ),
  ),
  conditions: Conditions(Type.String({ minLength: 1, maxLength: 500 }), CONDITIONS),
  scopes: Type.Array(OneOf(TRUST_SCOPES), {
    minItems: 1,
    maxItems: 10,
    description: 'What the jobs can do. Each scope requires a permission that your role must have.',
  }),
  expires_at: Type.Optional(
    Nullable({
      ...Timestamp,
      description: 'When the trust expires, at most ten years from now. Null or absent: never.',
    }),
  ),
  reason: Reason,
})
export type NewTrust = Static<typeof NewTrust>

export const ListedTrust = Closed(
  {
    id: Type.String({ description: 'The id of the trust.' }),
    name: Type.String({ description: 'The name of the trust.' }),
    issuer: Type.String({ description: ISSUER }),
    audience: Type.String({ description: AUDIENCE }),
    provider: Nullable(OneOf(TRUST_PROVIDERS, { description: `${PROVIDER} Null if the claims cannot be read.` })),
    conditions: Type.Unsafe<TrustConditions>(Conditions(Type.String(), CONDITIONS)),
    scopes: Type.Array(Type.String(), { description: 'What the jobs can do.' }),
    created_by: Type.String({ description: 'The name of the person who created the trust, or `command line`.' }),
    created_by_user_id: Nullable(
      Type.String({ description: 'The id of the person who created the trust. Null if no person did.' }),
    ),
    created_at: Time('When the trust was created.'),
    expires_at: MaybeTime('When the trust expires. Null if it does not expire.'),
    revoked_at: MaybeTime('When the trust was revoked. Null if it is not revoked.'),
    last_used_at: MaybeTime('When a token was last accepted, to the minute. Null if none was.'),
  },
  { $id: 'OidcTrust', description: 'Which OIDC tokens of CI jobs the organization accepts.' },
)
