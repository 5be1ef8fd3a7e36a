type Credential = { expires_at: string | null; revoked_at: string | null }

export const CREDENTIAL_STATES = ['active', 'expired', 'revoked'] as const

type CredentialState = (typeof CREDENTIAL_STATES)[number]

/** Whether an API key or a trust works. */
export function credentialState({ expires_at, revoked_at }: Credential): CredentialState {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active'
}
