import { Type } from 'typebox'
import { ApiError } from '../../../../platform/http/errors.ts'
import { type HostInstallation, HostRefusal } from '../../../code-host.ts'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'
import { CredentialsRefused } from '../../../kit/rest-error.ts'
import type { AzureApi } from '../client.ts'
import { Guid } from '../objects/fields.ts'

const ConnectionData = Type.Object({
  instanceId: Guid,
  authenticatedUser: Maybe(Type.Object({ id: Maybe(Text) })),
})

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Public projects can be read without signing in, as this user. */
const ANONYMOUS = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa'

/** An organization by its id or name. Null if it does not exist. */
export async function readOrganization(api: AzureApi, idOrName: string): Promise<HostInstallation | null> {
  try {
    return await read(api, idOrName)
  } catch (error) {
    if (error instanceof CredentialsRefused) throw refused(error.message)
    if (error instanceof HostRefusal && error.status === 404) return null
    if (error instanceof HostRefusal) throw refused(error.message)
    throw error
  }
}

async function read(api: AzureApi, idOrName: string): Promise<HostInstallation | null> {
  const asked = GUID.test(idOrName) ? await api.findName(idOrName) : idOrName
  if (asked === null) return null
  const { body } = await api.request({ path: '/_apis/connectionData', preview: 1 }, asked)
  const { instanceId, authenticatedUser } = readAs(ConnectionData, body)
  if (authenticatedUser?.id?.toLowerCase() === ANONYMOUS) throw refused('The organization does not know them.')
  const id = instanceId.toLowerCase()
  // The name as the organization writes it.
  const login = (await api.findName(id)) ?? asked
  return { id, account: { id, login, type: 'Organization' }, repositories: 'all', suspended: false }
}

function refused(message: string): ApiError {
  return new ApiError(400, 'invalid_credentials', `Azure DevOps does not accept the credentials. ${message}`)
}
