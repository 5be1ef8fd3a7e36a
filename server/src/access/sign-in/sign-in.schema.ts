import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PERMISSIONS } from '../role.ts'
import { EMAIL_CHARS_MAX, EMAIL_FORM } from '../user.ts'

const PASSWORD_CHARS_MAX = 1000

/** What proves who a person is, besides the account: a password and, with TOTP, a code. */
const passwordProof = {
  password: Type.String({ minLength: 1, maxLength: PASSWORD_CHARS_MAX, description: 'The password of the account.' }),
  totp_code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 20,
      description: 'The present code of the authenticator app. Required if the account has TOTP. Each code works once.',
    }),
  ),
  recovery_code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description: 'A recovery code, in place of `totp_code`. Each one works once.',
    }),
  ),
}

export const PasswordSignIn = Closed({
  email: Type.String({ minLength: 1, maxLength: 320, description: 'The email address of the account.' }),
  ...passwordProof,
})

const Base64Url = Type.String({ minLength: 1, maxLength: 20_000, pattern: '^[A-Za-z0-9_-]+$' })

/** What browsers add to it later is ignored. */
const ofCredential = {
  id: { ...Base64Url, maxLength: 1400, description: 'The id of the credential in base64url.' },
  rawId: { ...Base64Url, maxLength: 1400, description: 'The same as `id`.' },
  type: Type.Literal('public-key', { description: 'The type of the credential.' }),
  clientExtensionResults: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Results of extensions. They are not used.' }),
  ),
}

const ClientDataJson = { ...Base64Url, description: 'What the browser signed: type, challenge and origin.' }

/** `PublicKeyCredential.toJSON()` after `navigator.credentials.get()` (WebAuthn §5.1). */
const PasskeyResponse = Type.Object(
  {
    ...ofCredential,
    response: Type.Object(
      {
        clientDataJSON: ClientDataJson,
        authenticatorData: { ...Base64Url, description: 'The data of the authenticator.' },
        signature: { ...Base64Url, description: 'The signature of the authenticator.' },
        userHandle: Type.Optional(Nullable({ ...Base64Url, description: 'The handle of the user.' })),
      },
      { description: 'The response of the authenticator.' },
    ),
  },
  { description: 'The result of `navigator.credentials.get()` as JSON (`PublicKeyCredential.toJSON()`).' },
)

/** `PublicKeyCredential.toJSON()` after `navigator.credentials.create()`. */
export const NewPasskeyResponse = Type.Object(
  {
    ...ofCredential,
    response: Type.Object(
      {
        clientDataJSON: ClientDataJson,
        attestationObject: { ...Base64Url, description: 'The attestation object.' },
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 50 }), {
            maxItems: 20,
            description: 'How browsers can reach the authenticator.',
          }),
        ),
      },
      { description: 'The response of the authenticator.' },
    ),
  },
  { description: 'The result of `navigator.credentials.create()` as JSON (`PublicKeyCredential.toJSON()`).' },
)

export const PasskeySignIn = Closed({ credential: PasskeyResponse })

export const Confirmation = Closed({
  password: Type.Optional(passwordProof.password),
  totp_code: passwordProof.totp_code,
  recovery_code: passwordProof.recovery_code,
  credential: Type.Optional(PasskeyResponse),
})

/** Options are passed on to the browser as they are. */
export const PasskeyOptions = Type.Object(
  { challenge: Type.String({ description: 'The challenge. It can be answered once, within 10 minutes.' }) },
  {
    additionalProperties: true,
    description:
      'Pass it to `PublicKeyCredential.parseRequestOptionsFromJSON()` and `navigator.credentials.get({ publicKey })`.',
  },
)

export const SignInMethodName = OneOf(['password', 'passkey', 'sso', 'link'], {
  description: 'How the session was started: `link` is an invitation, a setup link or a reset link.',
})

const OwnRole = Closed(
  {
    id: Type.String({ description: 'The id of the role: the name of a built-in role, or the UUID of a custom one.' }),
    name: Type.String({ description: 'The name of the role.' }),
    built_in: Type.Boolean({ description: 'Whether every organization has this role.' }),
  },
  { description: 'Your role in the organization.' },
)

const OwnOrganization = Closed({
  id: Type.String({ description: 'The id of the organization.' }),
  slug: Type.String({ description: 'The name of the organization in paths: `/app/api/orgs/{org}`.' }),
  name: Type.String({ description: 'The name of the organization.' }),
  is_demo: Type.Boolean({ description: 'Whether it contains example data (`shiplock-server demo`).' }),
  role: OwnRole,
  permissions: Type.Array(OneOf(PERMISSIONS), { description: 'What the role permits.' }),
})

export const CurrentSession = Closed({
  user: Closed(
    {
      id: Type.String({ description: 'The id of the user.' }),
      email: Type.String({ description: 'The email address of the user.' }),
      name: Type.String({ description: 'The name of the user.' }),
    },
    { description: 'Who is signed in.' },
  ),
  session: Closed(
    {
      id: Type.String({ description: 'The id of the session.' }),
      method: SignInMethodName,
      created_at: { ...Timestamp, description: 'When the session started.' },
      signed_in_at: { ...Timestamp, description: 'When the user last proved who they are.' },
      fresh: Type.Boolean({ description: 'Whether the last proof is recent enough for dangerous actions.' }),
      fresh_until: { ...Timestamp, description: 'When the last proof stops being recent enough.' },
      expires_at: { ...Timestamp, description: 'When the session ends if it is not used again.' },
      limited: Type.Boolean({
        description:
          'Whether the identity provider of an organization started the session: it opens this organization, and not the account.',
      }),
    },
    { description: 'The session of this request.' },
  ),
  sign_in_methods: Closed(
    {
      password: Type.Boolean({ description: 'Whether the account has a password.' }),
      totp: Type.Boolean({ description: 'Whether a sign-in by password also requires a code.' }),
      recovery_codes_left: Type.Integer({ description: 'The number of recovery codes that were not used.' }),
      passkeys: Type.Integer({ description: 'The number of passkeys.' }),
    },
    {
      description:
        'How the user can sign in, besides single sign-on. A limited session does not tell: it has none of them.',
    },
  ),
  organizations: Type.Array(OwnOrganization, { description: 'The organizations that the user can open, by name.' }),
})
export type CurrentSession = Static<typeof CurrentSession>

export const SignedOut = Closed({ signed_out: Type.Literal(true, { description: 'The session has ended.' }) })

/** The response 401 of operations that verify who somebody is. */
export const ProofRefused = {
  description:
    '`sign_in_failed`: the account, the password or the passkey is wrong. `totp_required`: send a code, too. `invalid_code`: the code is wrong or was used. `not_signed_in`: the session has ended.',
  content: { 'application/json': { schema: { $ref: 'Error#' } } },
}

/** An email address in a request. It is stored in lower case. */
export const EmailAddress = Type.String({
  pattern: EMAIL_FORM,
  maxLength: EMAIL_CHARS_MAX,
  description: 'An email address.',
})
