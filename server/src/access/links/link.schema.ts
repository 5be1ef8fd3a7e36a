import { Type } from 'typebox'
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts'
import { EmailAddress, NewPasskeyResponse } from '../sign-in/sign-in.schema.ts'

const TOKEN_CHARS_MAX = 200
const NAME_CHARS_MAX = 100
const PASSWORD_CHARS_MAX = 200

const token = Type.String({
  minLength: 1,
  maxLength: TOKEN_CHARS_MAX,
  description: 'The token of the link: what follows `#token=` in its address.',
})
const email = Type.Optional({
  ...EmailAddress,
  description: 'The email address of the account. Required for a setup link. Other links state it themselves.',
})
const name = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: NAME_CHARS_MAX,
    description: 'The name of the person. Required for a new account.',
  }),
)

export const LinkToken = Closed({ token })

export const Link = Closed(
  {
    kind: OneOf(['setup', 'invitation', 'reset'], {
      description:
        '`setup` makes the first Org admin, `invitation` makes a member of an organization, and `reset` replaces the ' +
        'password and the other ways to sign in of an account.',
    }),
    organization: Nullable(
      Closed({
        slug: Type.String({ description: 'The slug of the organization.' }),
        name: Type.String({ description: 'The display name of the organization.' }),
      }),
      { description: 'The organization that the link leads to. Null for `reset`.' },
    ),
    email: Nullable(Type.String({ description: 'The email address that the link is for. Null for `setup`.' })),
    role: Nullable(Type.String({ description: 'The role that the link gives. Null for `reset`.' })),
    role_name: Nullable(Type.String({ description: 'The name of the role. Null for `reset`.' })),
    account_exists: Type.Boolean({
      description:
        'True if an account with the email address exists. The person then has to be signed in to accept an ' +
        'invitation, and sends neither name nor password.',
    }),
    expires_at: Type.String({ format: 'date-time', description: 'Until when the link can be used.' }),
  },
  { description: 'A one-use link.' },
)

export const NewPasskeyOfLink = Closed({ token, email, name })

export const PasskeyOptions = Type.Object(
  { challenge: Type.String({ description: 'The challenge. It can be answered once, within 10 minutes.' }) },
  {
    additionalProperties: true,
    description:
      'Pass it to `PublicKeyCredential.parseCreationOptionsFromJSON()` and `navigator.credentials.create({ publicKey })`.',
  },
)

export const Acceptance = Closed({
  token,
  email,
  name,
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PASSWORD_CHARS_MAX,
      description:
        'The first or the new password, of 12 to 200 characters. A new account needs it unless a passkey is sent.',
    }),
  ),
  passkey: Type.Optional(
    Closed(
      {
        name: Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX, description: 'The name of the passkey.' }),
        credential: NewPasskeyResponse,
      },
      { description: 'A passkey that was made with the options of createPasskeyOptionsOfLink.' },
    ),
  ),
})

export const AcceptedLink = Closed(
  {
    user: Closed(
      {
        id: Type.String({ format: 'uuid', description: 'The id of the user.' }),
        email: Type.String({ description: 'The email address of the user.' }),
        name: Type.String({ description: 'The name of the user.' }),
      },
      { description: 'The user, who is signed in now.' },
    ),
    organization: Nullable(Type.String({ description: 'The slug of the joined organization. Null for `reset`.' })),
  },
  { description: 'An accepted link.' },
)
