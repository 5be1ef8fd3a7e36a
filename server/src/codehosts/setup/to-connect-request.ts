import type { Static } from 'typebox'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { APP_PROVIDERS, getCodeHost, type Provider } from '../catalogue.ts'
import type { HostCredentials } from '../code-host.ts'
import type { NewConnection } from './code-host.schema.ts'

type Body = Static<typeof NewConnection>
type ConnectRequest = { provider: Provider; installation_id: string; credentials: HostCredentials | null }

/** What to connect. Throws 400 `invalid_request` with the field that is missing or too many. */
export function toConnectRequest(body: Body): ConnectRequest {
  return getCodeHost(body.provider).connects === 'app' ? toInstallation(body) : toAccount(body)
}

function toInstallation({ provider, installation_id, account, credentials }: Body): ConnectRequest {
  if (installation_id === undefined)
    throw createInvalidFieldError('/body/installation_id', `is required for ${provider}`)
  if (account !== undefined) throw createInvalidFieldError('/body/account', `is not used for ${provider}`)
  if (credentials !== undefined) throw createInvalidFieldError('/body/credentials', `is not used for ${provider}`)
  return { provider, installation_id, credentials: null }
}

function toAccount({ provider, installation_id, account, credentials }: Body): ConnectRequest {
  if (installation_id !== undefined)
    throw createInvalidFieldError('/body/installation_id', `is used for ${APP_PROVIDERS.join(' and ')} only`)
  if (account === undefined) throw createInvalidFieldError('/body/account', `is required for ${provider}`)
  if (credentials === undefined) throw createInvalidFieldError('/body/credentials', `is required for ${provider}`)
  return { provider, installation_id: account, credentials: toCredentials(credentials) }
}

function toCredentials(given: NonNullable<Body['credentials']>): HostCredentials {
  const { token, client_id, client_secret, tenant_id } = given
  if (token !== undefined) {
    if (client_id ?? client_secret ?? tenant_id)
      throw createInvalidFieldError('/body/credentials/token', 'cannot be combined with the fields of a client')
    return { type: 'token', token }
  }
  if (client_id === undefined && client_secret === undefined)
    throw createInvalidFieldError('/body/credentials', 'must have a token, or client_id and client_secret')
  if (client_id === undefined)
    throw createInvalidFieldError('/body/credentials/client_id', 'is required with client_secret')
  if (client_secret === undefined)
    throw createInvalidFieldError('/body/credentials/client_secret', 'is required with client_id')
  return { type: 'client', client_id, client_secret, tenant_id: tenant_id ?? null }
}
