import { invalidCredentials } from '../../../errors/codehosts.ts'
import { type HostCredentials, HostUnavailable } from '../../code-host.ts'
import { CredentialsRefused } from '../../kit/rest-error.ts'

/** Read for each request, so that a new token is used at once. */
export function requireToken(credentials: HostCredentials | null): string {
  if (credentials === null) throw new HostUnavailable('The connection has no credentials.')
  if (credentials.type === 'token') return credentials.token
  throw invalidCredentials('GitLab needs an access token.')
}

export function handleRefusedToken(error: unknown): never {
  if (!(error instanceof CredentialsRefused)) throw error
  throw invalidCredentials('GitLab does not accept the token.')
}
