import { Type } from 'typebox'
import { Closed, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { OrganizationSlug } from '../gateway/open-to-people.ts'

const ROLE_CHARS_MAX = 50

const Role = Type.String({
  minLength: 1,
  maxLength: ROLE_CHARS_MAX,
  description: 'A built-in role, or the id of a custom role.',
})

const rules = {
  issuer: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The issuer of the OpenID provider, such as `https://accounts.example.com`: an https URL.',
  }),
  client_id: Type.String({ minLength: 1, maxLength: 500, description: 'The client id of Shiplock at the provider.' }),
  email_domains: Type.Array(
    Type.String({
      pattern: '^[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$',
      description: 'A domain in lower case.',
    }),
    {
      maxItems: 100,
      default: [],
      description:
        'Only people with a verified email address of these domains can sign in. Empty: every verified address.',
    },
  ),
  creates_accounts: Type.Boolean({
    default: false,
    description: 'Whether a first sign-in makes an account and a membership.',
  }),
  default_role: Nullable(Role, {
    description: 'The role of people for whom `role_map` has none. Null: they cannot sign in.',
  }),
  role_claim: Nullable(Type.String({ minLength: 1, maxLength: 200 }), {
    description: 'The claim that decides the role, such as `groups`: a text, or a list of texts.',
  }),
  role_map: Type.Array(
    Closed({
      value: Type.String({ minLength: 1, maxLength: 500, description: 'A value of the claim.' }),
      role: Role,
    }),
    {
      maxItems: 200,
      default: [],
      description: 'The roles of values of the claim. The first one that fits decides, at each sign-in again.',
    },
  ),
}

export const SingleSignOn = Closed({
  ...rules,
  callback_url: Type.String({ description: 'The redirect URI to register at the provider.' }),
  created_at: Type.String({ format: 'date-time', description: 'When single sign-on was set up.' }),
  updated_at: Type.String({ format: 'date-time', description: 'When it was last changed.' }),
})

export const NewSingleSignOn = Closed({
  ...rules,
  default_role: Type.Optional(rules.default_role),
  role_claim: Type.Optional(rules.role_claim),
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'The client secret. It is stored encrypted and never returned. Absent: the stored one stays.',
    }),
  ),
})

const org = Type.Optional({ ...OrganizationSlug, description: 'The slug of an organization with its own provider.' })

export const SsoQuery = Closed({ org })

export const SsoStart = Closed({
  org,
  next: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'The path of this server to open after the sign-in. Anything else leads to `/`.',
    }),
  ),
})

/** Providers may add parameters. */
export const SsoCallback = Type.Object(
  {
    state: Type.Optional(Type.String({ description: 'The state of the request.' })),
    code: Type.Optional(Type.String({ description: 'The authorization code.' })),
    iss: Type.Optional(Type.String({ description: 'The issuer (RFC 9207).' })),
    error: Type.Optional(Type.String({ description: 'Why the provider refuses.' })),
  },
  { additionalProperties: true },
)

export const SsoStatus = Closed({
  available: Type.Boolean({ description: 'Whether people can sign in with single sign-on.' }),
  organization: Nullable(Type.String(), {
    description: 'The name of the organization whose own provider it is. Null: that of the server.',
  }),
  start: Nullable(Type.String({ description: 'The path that starts a sign-in. Open it in the browser.' })),
})

export const LinkedIdentity = Closed({
  id: Type.String({ description: 'The id of the identity.' }),
  organization: Closed(
    {
      slug: Type.String({ description: 'The slug of the organization.' }),
      name: Type.String({ description: 'The name of the organization.' }),
    },
    { description: 'The organization that the identity signs in to, and no other.' },
  ),
  issuer: Type.String({ description: 'The issuer of the identity provider.' }),
  created_at: { ...Timestamp, description: 'When the identity was linked.' },
})

export const NewIdentity = Closed({
  organization: { ...OrganizationSlug, description: 'The slug of an organization with its own provider.' },
  next: SsoStart.properties.next,
})

export const LinkStarted = Closed({
  location: Type.String({ description: 'The address at the identity provider. Open it in this browser.' }),
})

export const IdentityPath = Closed({
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the identity.' }),
})

export const IdentityUnlinked = Closed({
  unlinked: Type.Literal(true, { description: 'The identity no longer signs in to your account.' }),
})
