import { Type } from 'typebox'
import { Closed, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from './password.ts'
import { NewPasskeyResponse, SignInMethodName } from './sign-in.schema.ts'

export const AccountChange = Closed({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Your name, as other people see it. It must not be blank or contain control characters.',
  }),
})

export const PasswordChange = Closed({
  current_password: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The present password. Required if the account has one.',
    }),
  ),
  new_password: Type.String({
    minLength: PASSWORD_CHARS_MIN,
    maxLength: PASSWORD_CHARS_MAX,
    description:
      'The new password. It must not be your email address, your name or one of the commonest passwords. All characters are allowed.',
  }),
})

export const PasswordChanged = Closed({
  changed: Type.Literal(true, { description: 'The password was changed, and your other sessions have ended.' }),
})

export const TotpEnrolment = Closed({
  secret: Type.String({ description: 'The secret in base32, to type into an authenticator app.' }),
  uri: Type.String({ description: 'The same as an `otpauth://` address, to show as a QR code.' }),
})

export const TotpConfirmation = Closed({
  code: Type.String({ minLength: 1, maxLength: 20, description: 'The code that the authenticator app shows.' }),
})

export const RecoveryCodes = Closed({
  recovery_codes: Type.Array(Type.String(), {
    description: 'Codes that replace the authenticator app, each of them once. They are not shown again.',
  }),
})

export const TotpDisabled = Closed({
  disabled: Type.Literal(true, { description: 'A password alone suffices from now on.' }),
})

const PasskeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: 'Your name for the passkey. It must not be blank.',
})

export const NewPasskey = Closed({
  name: Type.Optional({ ...PasskeyName, default: 'Passkey' }),
  credential: NewPasskeyResponse,
})

export const PasskeyChange = Closed({ name: PasskeyName })

export const PasskeyPath = Closed({
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the passkey.' }),
})

export const Passkey = Closed({
  id: Type.String({ description: 'The id of the passkey.' }),
  name: PasskeyName,
  is_synced: Type.Boolean({ description: 'Whether the provider of the passkey copies it to your other devices.' }),
  created_at: { ...Timestamp, description: 'When the passkey was added.' },
  last_used_at: Nullable({ ...Timestamp, description: 'When the passkey was last used. Null if never.' }),
})

export const PasskeyRemoved = Closed({ removed: Type.Literal(true, { description: 'The passkey was removed.' }) })

export const OwnSessionPath = Closed({
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the session.' }),
})

export const OwnSession = Closed({
  id: Type.String({ description: 'The id of the session.' }),
  current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  method: SignInMethodName,
  organization: Nullable(Type.String(), {
    description: 'The organization whose identity provider started the session. It opens only this one.',
  }),
  created_at: { ...Timestamp, description: 'When the session started.' },
  signed_in_at: { ...Timestamp, description: 'When the user last proved who they are.' },
  last_used_at: { ...Timestamp, description: 'When the session was last used, to the minute.' },
  address: Nullable(Type.String({ description: 'The network address that the session was started from.' })),
  user_agent: Nullable(Type.String({ description: 'The browser that started the session, as it names itself.' })),
})

export const SessionRevoked = Closed({ revoked: Type.Literal(true, { description: 'The session has ended.' }) })

export const SessionsRevoked = Closed({
  revoked: Type.Integer({ description: 'The number of sessions that were ended.' }),
})
