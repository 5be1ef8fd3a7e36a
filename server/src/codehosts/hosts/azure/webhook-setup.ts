import type { HostClient, WebhookTarget } from '../../code-host.ts'
import { HostRefusal } from '../../code-host.ts'
import { restPath } from '../../kit/rest-client.ts'
import { type AzureApi, valuesOf } from './client.ts'
import { ensureServiceConnection, removeServiceConnection } from './hooks/service-connection.ts'
import { parseSubscription, type Subscription } from './hooks/subscription.parser.ts'
import { secretMark, WEBHOOK_USER } from './hooks/webhook-target.ts'

/** A project's service hooks are looked at this often at most. */
const CHECK_MS_MIN = 10 * 60_000
const SUBSCRIPTIONS = '/_apis/hooks/subscriptions'
const CONSUMER = { consumerId: 'webHooks', consumerActionId: 'httpRequest' }

type Event = { publisherId: string; eventType: string; resourceVersion: string }

/** Organizations without Advanced Security may refuse its events. */
const SECURITY = 'advsec'

/** The events that `events/translate.ts` uses, and which part of Azure DevOps publishes them. */
const EVENTS: readonly Event[] = [
  ...['git.push', 'git.pullrequest.created', 'git.pullrequest.updated', 'build.complete'].map((eventType) => ({
    publisherId: 'tfs',
    eventType,
    resourceVersion: '1.0',
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

/** Subscriptions are of a project, and cover all of its repositories. */
export function webhookActions(api: AzureApi): Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'> {
  const checked = new Map<string, { at: number; key: string; done: Promise<void> }>()
  return {
    async ensureWebhook(repository, target) {
      const project = await api.projectOf(repository)
      if (project === null) throw new HostRefusal(404, 'The repository does not exist, or may not be read.')
      const now = api.now().getTime()
      const known = checked.get(project)
      const key = addressOf(target)
      if (known?.key === key && now - known.at < CHECK_MS_MIN) return known.done
      const done = ensureProject(api, project, target).then(() => ensureServiceConnection(api, project, target))
      checked.set(project, { at: now, key, done })
      return done.catch((error) => {
        checked.delete(project)
        throw error
      })
    },

    async removeWebhooks(address) {
      checked.clear()
      const own = await listOwn(api, address)
      for (const { id } of own) await remove(api, id)
      const projects = new Set(own.flatMap(({ publisherInputs }) => publisherInputs?.projectId ?? []))
      for (const project of projects) await removeServiceConnection(api, project, address)
    },
  }
}

/** Azure DevOps does not show the password of a subscription, so the address has a mark of it. */
function addressOf({ address, secret }: WebhookTarget): string {
  return `${address}?${new URLSearchParams({ secret: secretMark(secret) })}`
}

async function listOwn(api: AzureApi, address: string): Promise<Subscription[]> {
  const { body } = await api.request({ path: SUBSCRIPTIONS, query: CONSUMER })
  const all = api.parseItems(valuesOf(body), parseSubscription)
  return all.filter(({ consumerInputs }) => consumerInputs?.url?.split('?')[0] === address)
}

/**
 * One subscription of each event. Further ones, which another process made meanwhile, are removed.
 */
async function ensureProject(api: AzureApi, project: string, target: WebhookTarget): Promise<void> {
  const own = (await listOwn(api, target.address)).filter(
    ({ publisherInputs }) => publisherInputs?.projectId?.toLowerCase() === project,
  )
  const used = new Set(EVENTS.map(({ eventType }) => eventType))
  for (const { id } of own.filter(({ eventType }) => !used.has(eventType ?? ''))) await remove(api, id)
  for (const event of EVENTS) {
    const [first, ...others] = own.filter(({ eventType }) => eventType === event.eventType)
    for (const { id } of others) await remove(api, id)
    const wanted = { ...event, ...CONSUMER, publisherInputs: { projectId: project }, consumerInputs: inputsOf(target) }
    if (first === undefined) await create(api, wanted)
    else if (!isGood(first, target)) await replace(api, first.id, wanted)
  }
}

function inputsOf(target: WebhookTarget): Record<string, string> {
  return {
    url: addressOf(target),
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
  return !isOff && consumerInputs?.url === addressOf(target)
}

/** The synchronization reads what no event reports. */
async function create(api: AzureApi, wanted: Event): Promise<void> {
  await api.request({ method: 'POST', path: SUBSCRIPTIONS, body: wanted }).catch((error) => {
    if (!(error instanceof HostRefusal && wanted.publisherId === SECURITY)) throw error
  })
}

async function replace(api: AzureApi, id: string, wanted: object): Promise<void> {
  const path = SUBSCRIPTIONS + restPath`/${id}`
  await api.request({ method: 'PUT', path, body: { ...wanted, id, status: 'enabled' } })
}

async function remove(api: AzureApi, id: string): Promise<void> {
  await api.request({ method: 'DELETE', path: SUBSCRIPTIONS + restPath`/${id}` }).catch(ignoreMissing)
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof HostRefusal && error.status === 404)) throw error
}
