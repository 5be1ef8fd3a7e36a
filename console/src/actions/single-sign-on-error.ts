const ERRORS: Record<string, string> = {
  sso_failed: 'The sign-in could not be completed. Start again.',
  identity_provider_unavailable:
    'The identity provider cannot be read. Try again later. Private addresses need SHIPLOCK_ALLOWED_NETWORKS.',
  not_found: 'Single sign-on is not set up for this organization.',
}

const REASONS: Record<string, string> = {
  email_not_verified: 'Your identity provider has not verified your email address.',
  domain_not_allowed: 'Addresses of your domain are not allowed to sign in this way.',
  no_account: 'You have no account. Ask an Org admin for an invitation.',
  account_exists:
    'Another account has this identity or its email address. Sign in to that account, then link the identity there.',
  disabled: 'Your account is disabled.',
  no_role: 'Your identity provider gives you no role in the organization. Ask an Org admin.',
  not_a_member: 'You are not a member of the organization. Ask an Org admin for an invitation.',
  signed_in: 'You are signed in already. Link the identity in your account, or sign out first.',
}

/**
 * What went wrong with a single sign-on that led back to a page. Anybody can make such an
 * address, so only known texts are shown.
 */
export function describeSingleSignOnError(code: string | undefined, reason: string | undefined): string | null {
  if (code === undefined) return null
  return REASONS[reason ?? ''] ?? ERRORS[code] ?? 'The sign-in failed. Try again.'
}
