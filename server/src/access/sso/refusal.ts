import { ssoRefused } from '../../errors/sign-in.ts'
import type { ApiError } from '../../platform/http/api-error.ts'

const MESSAGES = {
  email_not_verified: 'Your identity provider has not verified your email address.',
  domain_not_allowed: 'Addresses of your domain are not allowed to sign in this way.',
  no_account: 'You have no account, and single sign-on does not make accounts. Ask for an invitation.',
  account_exists:
    'An account with your email address exists. Sign in to it another way, then start single sign-on again to connect them.',
  disabled: 'Your account is disabled.',
  no_role: 'Your identity provider gives you no role in the organization.',
  not_a_member: 'You are not a member of the organization. Ask for an invitation.',
}

/** Why a person whom a provider has authenticated is not signed in. */
type Refusal = keyof typeof MESSAGES

/** The error 403 `sso_refused` with its reason. */
export function createRefusedError(reason: Refusal): ApiError {
  return ssoRefused(MESSAGES[reason], reason)
}
