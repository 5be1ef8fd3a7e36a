import type { paths } from '../../api/schema.ts'
import type { AccountProvider, CredentialsKind } from './account-hosts.ts'
import type { CODE_HOSTS_PATH } from './connection.ts'

type NewConnection = paths[typeof CODE_HOSTS_PATH]['post']['requestBody']['content']['application/json']

/** What a form holds. The names are those of the body, so that errors find their fields. */
export type AccountValues = {
  account: string
  credentials: { token: string; client_id: string; client_secret: string; tenant_id: string }
}

/** The body that connects an account. What was typed for another kind of credentials is not sent. */
export function toNewConnection(
  provider: AccountProvider,
  { type, tenant }: CredentialsKind,
  { account, credentials }: AccountValues,
): NewConnection {
  const { token, client_id, client_secret, tenant_id } = credentials
  const client = { client_id: client_id.trim(), client_secret: client_secret.trim() }
  return {
    provider,
    account: account.trim(),
    credentials:
      type === 'token' ? { token: token.trim() } : { ...client, ...(tenant && { tenant_id: tenant_id.trim() }) },
  }
}
