import { defineError } from '../platform/http/api-error.ts'

/** Sign-in, single sign-on, sessions, and what a person changes in their own account. */

export const passkeyRefused = defineError({
  status: 400,
  code: 'passkey_refused',
  cause: 'The challenge of the registration is unknown or has expired, or the response does not verify.',
  remedy: 'Start the registration again.',
})

export const ssoFailed = defineError({
  status: 400,
  code: 'sso_failed',
  cause:
    'Application API: the sign-in at the identity provider is unknown, was completed, has expired or was started in ' +
    'another browser, or the provider did not confirm it.',
  remedy: 'Start single sign-on again.',
})

export const weakPassword = defineError({
  status: 400,
  code: 'weak_password',
  cause: 'The new password is one of the commonest ones, or the email address or the name of the account.',
  remedy: 'Choose another password.',
})

export const invalidCode = defineError({
  status: 401,
  code: 'invalid_code',
  cause: 'The code is wrong, has expired or was used before.',
  remedy: 'Wait for the next code of the authenticator app.',
  message: 'The code is wrong, has expired or was used before.',
})

export const notSignedIn = defineError({
  status: 401,
  code: 'not_signed_in',
  cause: 'Application API: the session is missing or has ended.',
  remedy: 'Sign in.',
})

export const signInFailed = defineError({
  status: 401,
  code: 'sign_in_failed',
  cause: 'The account or the password is wrong, or the passkey was not accepted.',
  remedy: 'Try again, or sign in another way.',
})

export const totpRequired = defineError({
  status: 401,
  code: 'totp_required',
  cause: 'The password is right, and the account has TOTP.',
  remedy: 'Repeat the request with `totp_code` or `recovery_code`.',
  message: 'Send the code of your authenticator app, or a recovery code.',
})

export const crossSiteRequest = defineError({
  status: 403,
  code: 'cross_site_request',
  cause:
    'Application API: a state-changing request has no header `x-shiplock-csrf`, or does not come from the same origin.',
  remedy: 'Send the header, and `Origin` or `Sec-Fetch-Site`.',
})

export const freshSignInRequired = defineError({
  status: 403,
  code: 'fresh_sign_in_required',
  cause: 'Application API: the action requires a sign-in within the last `details.maxAgeSeconds` seconds.',
  remedy: 'Confirm your identity, then send the request again.',
  message: (_maxAgeSeconds: number) => 'This action requires a recent sign-in. Confirm your identity, then try again.',
  details: (maxAgeSeconds) => ({ maxAgeSeconds }),
})

export const limitedSession = defineError({
  status: 403,
  code: 'limited_session',
  cause:
    'Application API: the session comes from the single sign-on of an organization. It opens that organization, and not the account.',
  remedy: 'Sign in with a password or a passkey.',
  message:
    'Your session comes from the single sign-on of an organization. It opens that organization, and not your account.',
})

export const ssoRefused = defineError({
  status: 403,
  code: 'sso_refused',
  cause:
    'Application API: single sign-on does not let the person in. `details.reason` states why; see ' +
    '[Who is let in](single-sign-on.md#who-is-let-in).',
  remedy: 'Depends on the reason.',
  message: (message: string, _reason: string) => message,
  details: (_message, reason) => ({ reason }),
})

export const lastSignInMethod = defineError({
  status: 409,
  code: 'last_sign_in_method',
  cause: 'The user could not sign in without this passkey or identity.',
  remedy: 'Set a password, or add a passkey.',
  message: (what: 'passkey' | 'identity') =>
    `You could not sign in without this ${what}. Set a password or add a passkey first.`,
})

export const passkeyKnown = defineError({
  status: 409,
  code: 'passkey_known',
  cause: 'The passkey is registered.',
  remedy: 'Use the passkey.',
  message: 'This passkey is registered already.',
})

export const tooManyPasskeys = defineError({
  status: 409,
  code: 'too_many_passkeys',
  cause: 'The account has 25 passkeys.',
  remedy: 'Remove one first.',
  message: (max: number) => `An account has at most ${max} passkeys.`,
})

export const totpEnabled = defineError({
  status: 409,
  code: 'totp_enabled',
  cause: 'TOTP is on.',
  remedy: 'Read the session (`GET /app/api/session`).',
  message: 'TOTP is on already. Turn it off first.',
})

export const totpNotEnabled = defineError({
  status: 409,
  code: 'totp_not_enabled',
  cause: 'TOTP is off.',
  remedy: 'Read the session (`GET /app/api/session`).',
  message: 'TOTP is off.',
})

export const totpNotStarted = defineError({
  status: 409,
  code: 'totp_not_started',
  cause: 'There is no enrolment in TOTP to confirm.',
  remedy: 'Start the enrolment.',
  message: 'There is no enrolment to confirm. Start one.',
})

export const identityProviderUnavailable = defineError({
  status: 502,
  code: 'identity_provider_unavailable',
  cause:
    'Application API: the identity provider cannot be read, its description is not valid, or it has a private address that `SHIPLOCK_ALLOWED_NETWORKS` does not name.',
  remedy: 'Check the settings of single sign-on, or try again later. The log of the server has the reason.',
  message: 'The identity provider cannot be read; private addresses need SHIPLOCK_ALLOWED_NETWORKS.',
})
