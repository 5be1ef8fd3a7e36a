import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { type HostClient, HostRefusal, type WebhookTarget } from '../../code-host.ts'
import { Remembered } from '../../kit/cache.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'
import { type AzureApi, parseValues } from './client.ts'

/** The name in the basic credentials of webhooks. Only the password is a secret. */
const WEBHOOK_USER = 'shiplock'

const MARK_CHARS = 8

/**
 * Tells a secret from an earlier one, where Azure DevOps does not show it. It is a short part of
 * the digest of 32 random bytes.
 */
function secretMark(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, MARK_CHARS)
}

const SUBSCRIPTIONS = '/_apis/hooks/subscriptions'
const CONSUMER = { consumerId: 'webHooks', consumerActionId: 'httpRequest' }

type Event = { publisherId: string; eventType: string; resourceVersion: string }

/** Organizations without Advanced Security may refuse its events. */
const SECURITY = 'advsec'

/** The events that `events.ts` translates, and which part of Azure DevOps publishes them. */
const EVENTS: readonly Event[] = [
  ...['git.push', 'git.pullrequest.created', 'git.pullrequest.updated', 'build.complete'].map((eventType) => ({
    publisherId: 'tfs',
    eventType,
    resourceVersion: '1.0',
  })),
  ...['created', 'renamed', 'deleted', 'statuschanged'].map((change) => ({
    publisherId: 'tfs',
    eventType: `git.repo.${change}`,
    resourceVersion: '1.0-preview.1',
  })),
  ...[
    'ms.vss-pipelines.run-state-changed-event',
    'ms.vss-pipelines.stage-state-changed-event',
    'ms.vss-pipelines.job-state-changed-event',
    'ms.vss-pipelinechecks-events.approval-pending',
    'ms.vss-pipelinechecks-events.approval-completed',
  ].map((eventType) => ({ publisherId: 'pipelines', eventType, resourceVersion: '5.1-preview.1' })),
  ...['created', 'state-changed', 'updated'].map((change) => ({
    publisherId: SECURITY,
    eventType: `ms.vss-alerts.alert-${change}-event`,
    resourceVersion: '1.0',
  })),
]

/**
 * Subscriptions are of a project, and cover all of its repositories. Each project is looked at once
 * in a synchronization.
 */
export function createWebhookActions(api: AzureApi): Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'> {
  const read = async (key: string) => {
    const [project, target] = JSON.parse(key) as [string, WebhookTarget]
    await ensureProject(api, project, target)
    await ensureServiceConnection(api, project, target)
  }
  const looks = new Remembered({ read, clock: api.options.clock, ageMsMax: Number.POSITIVE_INFINITY })
  return {
    async ensureWebhook(repository, target) {
      const project = await api.fetchProject(repository)
      if (project === null) throw new HostRefusal(404, 'The repository does not exist, or may not be read.')
      await looks.get(JSON.stringify([project, target]))
    },

    async removeWebhooks(address) {
      const own = await fetchOwn(api, address)
      for (const { id } of own) await sendRemoval(api, id)
      const projects = new Set(own.flatMap(({ publisherInputs }) => publisherInputs?.projectId ?? []))
      for (const project of projects) await removeServiceConnection(api, project, address)
    },
  }
}

/** Azure DevOps does not show the password of a subscription, so the address has a mark of it. */
function formatAddress({ address, secret }: Pick<WebhookTarget, 'address' | 'secret'>): string {
  return `${address}?${new URLSearchParams({ secret: secretMark(secret) })}`
}

async function fetchOwn(api: AzureApi, address: string): Promise<Subscription[]> {
  const { body } = await api.request({ path: SUBSCRIPTIONS, query: CONSUMER })
  const all = api.parseItems(parseValues(body), (value) => readAs(Subscription, value))
  return all.filter(({ consumerInputs }) => consumerInputs?.url?.split('?')[0] === address)
}

/**
 * One subscription of each event. Further ones are removed, also those that another process made at
 * the same time: both keep the older one. One on probation is replaced: its events are lost until a
 * retry succeeds, which is up to 15 hours away, and changing it does not end that.
 */
async function ensureProject(api: AzureApi, project: string, target: WebhookTarget): Promise<void> {
  const own = await fetchOfProject(api, project, target)
  const used = new Set(EVENTS.map(({ eventType }) => eventType))
  const { kept = [], unfit = [] } = Object.groupBy(own, ({ eventType, status }) =>
    used.has(eventType ?? '') && status !== 'onProbation' ? 'kept' : 'unfit',
  )
  for (const { id } of unfit) await sendRemoval(api, id)
  const hasMade = await ensureEvents(api, project, target, kept)
  if (hasMade) await removeDoubles(api, await fetchOfProject(api, project, target))
}

/** Those of the project, the oldest first. */
async function fetchOfProject(api: AzureApi, project: string, { address }: WebhookTarget): Promise<Subscription[]> {
  const own = await fetchOwn(api, address)
  const age = ({ createdDate, id }: Subscription) => `${createdDate} ${id}`
  return own
    .filter(({ publisherInputs }) => publisherInputs?.projectId?.toLowerCase() === project)
    .sort((one, other) => (age(one) < age(other) ? -1 : 1))
}

async function removeDoubles(api: AzureApi, own: readonly Subscription[]): Promise<void> {
  for (const [, ...others] of Map.groupBy(own, ({ eventType }) => eventType).values())
    for (const { id } of others) await sendRemoval(api, id)
}

/** Returns whether a subscription was missing. */
async function ensureEvents(
  api: AzureApi,
  project: string,
  target: WebhookTarget,
  own: readonly Subscription[],
): Promise<boolean> {
  await removeDoubles(api, own)
  let hasMade = false
  for (const event of EVENTS) {
    const known = own.find(({ eventType }) => eventType === event.eventType)
    const inputs = { publisherInputs: { projectId: project }, consumerInputs: formatInputs(target) }
    const wanted = { ...event, ...CONSUMER, ...inputs }
    hasMade ||= known === undefined
    if (known === undefined) await sendSubscription(api, wanted)
    else if (!isGood(known, target)) {
      const body = { ...wanted, id: known.id, status: 'enabled' }
      await api.request({ method: 'PUT', path: SUBSCRIPTIONS + encodePath`/${known.id}`, body })
    }
  }
  return hasMade
}

function formatInputs(target: WebhookTarget): Record<string, string> {
  return {
    url: formatAddress(target),
    basicAuthUsername: WEBHOOK_USER,
    basicAuthPassword: target.secret,
    acceptUntrustedCerts: 'false',
    resourceDetailsToSend: 'all',
    messagesToSend: 'none',
    detailedMessagesToSend: 'none',
  }
}

/**
 * Azure DevOps disables a subscription whose address failed for long. One that a person disabled
 * stays so.
 */
function isGood({ status, consumerInputs }: Subscription, target: WebhookTarget): boolean {
  const isOff = status === 'disabledBySystem' || status === 'disabledByInactiveIdentity'
  return !isOff && consumerInputs?.url === formatAddress(target)
}

/** The synchronization reads what no event reports. */
async function sendSubscription(api: AzureApi, wanted: Event): Promise<void> {
  await api.request({ method: 'POST', path: SUBSCRIPTIONS, body: wanted }).catch((error) => {
    if (!(error instanceof HostRefusal && wanted.publisherId === SECURITY)) throw error
  })
}

async function sendRemoval(api: AzureApi, id: string): Promise<void> {
  await acceptRefusal(api.request({ method: 'DELETE', path: SUBSCRIPTIONS + encodePath`/${id}` }), [404])
}

const Subscription = Type.Object({
  id: Text,
  publisherId: Maybe(Text),
  eventType: Maybe(Text),
  status: Maybe(Text),
  createdDate: Maybe(Text),
  publisherInputs: Maybe(Type.Object({ projectId: Maybe(Text) })),
  consumerInputs: Maybe(Type.Object({ url: Maybe(Text) })),
})
type Subscription = Static<typeof Subscription>

/** The name that people choose when they configure a check. */
const CONNECTION_NAME = 'Shiplock'
const ENDPOINTS = '/_apis/serviceendpoint/endpoints'

const ServiceConnection = Type.Object({ id: Text, name: Maybe(Text), url: Maybe(Text), description: Maybe(Text) })
type ServiceConnection = Static<typeof ServiceConnection>

/**
 * Makes the service connection through which checks on environments ask us, so that nobody has to
 * copy its secret. Credentials that may not make it are good for everything else.
 */
async function ensureServiceConnection(api: AzureApi, project: string, target: WebhookTarget): Promise<void> {
  try {
    const own = await fetchOwnConnection(api, project, target.address)
    const wanted = formatConnection(project, target)
    if (own === null) await api.request({ method: 'POST', path: ENDPOINTS, body: wanted })
    else if (own.description !== wanted.description) {
      await api.request({ method: 'PUT', path: ENDPOINTS + encodePath`/${own.id}`, body: { ...wanted, id: own.id } })
    }
  } catch (error) {
    if (!(error instanceof HostRefusal)) throw error
    api.options.log.info({ reason: error.message }, 'The service connection of checks may not be made')
  }
}

async function removeServiceConnection(api: AzureApi, project: string, address: string): Promise<void> {
  const own = await fetchOwnConnection(api, project, address)
  if (own === null) return
  const query = { projectIds: project, deep: true }
  await acceptRefusal(api.request({ method: 'DELETE', path: ENDPOINTS + encodePath`/${own.id}`, query }), 'any')
}

async function fetchOwnConnection(api: AzureApi, project: string, address: string): Promise<ServiceConnection | null> {
  const path = encodePath`/${project}` + ENDPOINTS
  const all = await api.fetchAll({ path, query: { type: 'generic' } }, (value) => readAs(ServiceConnection, value))
  return all.find(({ url }) => url?.split('?')[0] === address) ?? null
}

/** The password is not shown later, so the description has a mark of it. */
function formatConnection(project: string, target: WebhookTarget) {
  const description = `Asks Shiplock whether a deployment may continue (${secretMark(target.secret)}).`
  return {
    name: CONNECTION_NAME,
    type: 'generic',
    url: target.address,
    description,
    authorization: {
      scheme: 'UsernamePassword',
      parameters: { username: WEBHOOK_USER, password: target.secret },
    },
    isShared: false,
    isReady: true,
    serviceEndpointProjectReferences: [{ name: CONNECTION_NAME, description, projectReference: { id: project } }],
  }
}
