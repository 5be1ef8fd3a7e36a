import { type Static, Type } from 'typebox'
import { HostRefusal, type WebhookTarget } from '../../../code-host.ts'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { secretMark, WEBHOOK_USER } from './webhook-target.ts'

/** The name that people choose when they configure a check. */
const NAME = 'Shiplock'
const ENDPOINTS = '/_apis/serviceendpoint/endpoints'

const ServiceConnection = Type.Object({ id: Text, name: Maybe(Text), url: Maybe(Text), description: Maybe(Text) })
type ServiceConnection = Static<typeof ServiceConnection>

/**
 * Makes the service connection through which checks on environments ask us, so that nobody has to
 * copy its secret. Credentials that may not make it are good for everything else.
 */
export async function ensureServiceConnection(api: AzureApi, project: string, target: WebhookTarget): Promise<void> {
  try {
    const known = await findOwn(api, project, target.address)
    const wanted = connectionOf(project, target)
    if (known === null) await api.request({ method: 'POST', path: ENDPOINTS, body: wanted })
    else if (known.description !== wanted.description) await update(api, known.id, wanted)
  } catch (error) {
    if (!(error instanceof HostRefusal)) throw error
    api.options.log.info({ reason: error.message }, 'The service connection of checks may not be made')
  }
}

export async function removeServiceConnection(api: AzureApi, project: string, address: string): Promise<void> {
  const known = await findOwn(api, project, address)
  if (known === null) return
  const query = { projectIds: project, deep: true }
  await api.request({ method: 'DELETE', path: ENDPOINTS + restPath`/${known.id}`, query }).catch((error) => {
    if (!(error instanceof HostRefusal)) throw error
  })
}

async function findOwn(api: AzureApi, project: string, address: string): Promise<ServiceConnection | null> {
  const path = restPath`/${project}` + ENDPOINTS
  const all = await api.readAll({ path, query: { type: 'generic' } }, (value) => readAs(ServiceConnection, value))
  return all.find(({ url }) => url?.split('?')[0] === address) ?? null
}

/** The password is not shown later, so the description has a mark of it. */
function connectionOf(project: string, target: WebhookTarget) {
  const description = `Asks Shiplock whether a deployment may continue (${secretMark(target.secret)}).`
  return {
    name: NAME,
    type: 'generic',
    url: target.address,
    description,
    authorization: {
      scheme: 'UsernamePassword',
      parameters: { username: WEBHOOK_USER, password: target.secret },
    },
    isShared: false,
    isReady: true,
    serviceEndpointProjectReferences: [{ name: NAME, description, projectReference: { id: project } }],
  }
}

async function update(api: AzureApi, id: string, wanted: object): Promise<void> {
  await api.request({ method: 'PUT', path: ENDPOINTS + restPath`/${id}`, body: { ...wanted, id } })
}
