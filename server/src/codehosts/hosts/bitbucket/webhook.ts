import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../../platform/clock.ts'
import {
  type HostClient,
  HostRefusal,
  type HostWebhooks,
  type RepositoryName,
  type WebhookTarget,
} from '../../code-host.ts'
import { Remembered } from '../../kit/cache.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'
import { formatLane, isDeliveryId, isSignature, isSignedBy, parseBody } from '../../kit/webhook-delivery.ts'
import { type BitbucketApi, formatUuid, parseUuid } from './client.ts'
import { EVENTS, parseSpans } from './events.ts'

export const hasSignature: HostWebhooks['hasSignature'] = (headers, target) =>
  target !== null && isSignature(headers['x-hub-signature'])

/**
 * Checks `X-Hub-Signature` over the bytes of the body in constant time (Atlassian, "Manage
 * webhooks"). False without a target, and for every method but `sha256`.
 */
export const verify: HostWebhooks['verify'] = async (body, { 'x-hub-signature': signature }, target) =>
  target !== null && isSignedBy(target.secret, body, signature)

const EVENT = /^[\w-]{1,50}:([\w-]{1,50})$/
/** Bitbucket documents this event for repositories: a workspace may refuse it. */
const SPAN_EVENT = 'pipeline:span_created'

/**
 * Null if the body is not JSON, or `X-Event-Key` or `X-Request-UUID` is missing or malformed. The
 * part of the event after the colon is the action. Each webhook has requests of its own, so the id
 * is made from the event and the body: an event that two webhooks report is one delivery.
 */
export const readHead: HostWebhooks['readHead'] = (body, headers, target) => {
  const { 'x-request-uuid': request, 'x-event-key': event } = headers
  if (!isDeliveryId(request) || typeof event !== 'string') return null
  const action = EVENT.exec(event)?.[1]
  const payload = parseBody(body)
  if (action === undefined || payload === undefined) return null
  return {
    id: `sha256:${createHash('sha256').update(`${event}\n`).update(body).digest('hex')}`,
    event,
    action,
    installation_id: target?.installation_id ?? null,
    lane: (event === SPAN_EVENT ? pipelineLane(payload) : objectLane(payload)) ?? `delivery:${request}`,
    payload: body.toString(),
  }
}

const Named = Type.Object({
  repository: Type.Object({ uuid: Text }),
  pullrequest: Maybe(Type.Object({ id: Type.Integer() })),
  commit_status: Maybe(Type.Object({ commit: Maybe(Type.Object({ hash: Text })) })),
})

/** The object that a delivery is about; null if the payload does not name one. */
function objectLane(payload: unknown): string | null {
  if (!Value.Check(Named, payload)) return null
  const { repository, pullrequest, commit_status } = payload
  const id = parseUuid(repository.uuid)
  if (pullrequest) return formatLane('pull', id, `${pullrequest.id}`)
  return commit_status?.commit ? formatLane('checks', id, commit_status.commit.hash) : formatLane('repository', id)
}

function pipelineLane(payload: unknown): string | null {
  try {
    const [first] = parseSpans(payload)
    return first === undefined ? null : formatLane('run', first.pipeline)
  } catch {
    return null
  }
}

const REPOSITORIES_MAX_PAGES = 20

const Hook = Type.Object({
  uuid: Text,
  url: Text,
  active: Maybe(Type.Boolean()),
  secret_set: Maybe(Type.Boolean()),
  skip_cert_verification: Maybe(Type.Boolean()),
  events: Maybe(Type.Array(Text)),
  created_at: Maybe(Text),
})
type Hook = Static<typeof Hook>

const Identified = Type.Object({ uuid: Text })

/** Where webhooks are registered, and the events that one of ours has there. Without any: none. */
type Place = { path: string; events: readonly string[] }
/** `without_spans`: the host does not offer the event of pipelines there. */
type Look = 'complete' | 'without_spans' | 'refused'

export function createWebhookActions(
  api: BitbucketApi,
  clock: Clock,
): Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'> {
  const webhooks = new BitbucketWebhooks(api, clock)
  return {
    ensureWebhook: (repository, target) => webhooks.ensure(repository, target),
    removeWebhooks: (address) => webhooks.remove(address),
  }
}

/**
 * The webhooks of one connection: one of the workspace if the credentials permit it, else one of
 * each repository. No event has two ways.
 */
class BitbucketWebhooks {
  readonly #api: BitbucketApi
  readonly #workspacePath: string
  /** Each place is looked at once in a synchronization, however many repositories ask for it. */
  readonly #looks: Remembered<Look>
  /** What was sent last to a path, because Bitbucket never shows the secret. */
  readonly #sent = new Map<string, string>()

  constructor(api: BitbucketApi, clock: Clock) {
    this.#api = api
    this.#workspacePath = encodePath`/workspaces/${formatUuid(api.workspace)}/hooks`
    const read = (key: string) => this.#send(...(JSON.parse(key) as [Place, WebhookTarget]))
    this.#looks = new Remembered({ read, clock, ageMsMax: Number.POSITIVE_INFINITY })
  }

  async ensure(repository: RepositoryName, target: WebhookTarget): Promise<void> {
    const path = this.#api.repositoryPath(repository, '/hooks')
    const look = (place: Place) => this.#looks.get(JSON.stringify([place, target]))
    const inWorkspace = await look({ path: this.#workspacePath, events: EVENTS })
    if (inWorkspace !== 'refused') {
      await look({ path, events: inWorkspace === 'without_spans' ? [SPAN_EVENT] : [] })
      return
    }
    if ((await look({ path, events: EVENTS })) !== 'refused') return
    throw new HostRefusal(403, `The credentials do not permit webhooks of ${repository.full_name} (scope "webhook").`)
  }

  /**
   * Those of the workspace, and those of its repositories, which other credentials may have made.
   */
  async remove(address: string): Promise<void> {
    this.#sent.clear()
    const path = encodePath`/repositories/${formatUuid(this.#api.workspace)}`
    const list = { path, query: { fields: 'next,page,pagelen,size,values.uuid' } }
    const repositories = await this.#api.fetchList(list, REPOSITORIES_MAX_PAGES)
    const ids = this.#api.parseItems(repositories?.values ?? [], (value) => readAs(Identified, value).uuid)
    const paths = ids.map((id) => this.#api.repositoryPath({ id: parseUuid(id) }, '/hooks'))
    for (const hooks of [this.#workspacePath, ...paths])
      await this.#sendRemovals(hooks, (await this.#fetchOwn(hooks, address)) ?? [])
  }

  async #send({ path, events }: Place, target: WebhookTarget): Promise<Look> {
    const found = await this.#fetchOwn(path, target.address)
    if (found === null) return 'refused'
    const [own, ...others] = found
    await this.#sendRemovals(path, events.length === 0 ? found : others)
    if (events.length === 0) return 'complete'
    const name = createHash('sha256')
      .update(JSON.stringify([target.address, target.secret]))
      .digest('hex')
    if (own !== undefined && this.#sent.get(path) === name && isCorrect(own, events)) return parseLook(own)
    const sent = await this.#sendHook({ path, events }, target, own)
    if (sent === null) return 'refused'
    this.#sent.set(path, name)
    // Another process may have made one at the same time: both keep the older one.
    const [, ...later] = own === undefined ? ((await this.#fetchOwn(path, target.address)) ?? []) : []
    await this.#sendRemovals(path, later)
    return parseLook({ events: sent })
  }

  /** The events of the webhook that was made or corrected. Null if the host refuses it. */
  async #sendHook(
    { path, events }: Place,
    { address: url, secret }: WebhookTarget,
    own: Hook | undefined,
  ): Promise<string[] | null> {
    const request =
      own === undefined
        ? ({ method: 'POST', path } as const)
        : ({ method: 'PUT', path: `${path}/${encodeURIComponent(own.uuid)}` } as const)
    const settings = { description: 'Shiplock', url, active: true, secret, skip_cert_verification: false }
    const withoutSpans = events.filter((event) => event !== SPAN_EVENT)
    for (const wanted of [[...events], withoutSpans].filter(({ length }) => length > 0)) {
      const body = { ...settings, events: wanted }
      if (await acceptRefusal(this.#api.rest.request({ ...request, body }), [400, 403, 404])) return wanted
    }
    return null
  }

  /** Those with this address, the oldest first. Null if they may not be read. */
  async #fetchOwn(path: string, address: string): Promise<Hook[] | null> {
    const found = await this.#api.fetchList({ path })
    const hooks = found && this.#api.parseItems(found.values, (value) => readAs(Hook, value))
    const age = ({ created_at, uuid }: Hook) => `${created_at} ${uuid}`
    return hooks?.filter(({ url }) => url === address).sort((a, b) => (age(a) < age(b) ? -1 : 1)) ?? null
  }

  async #sendRemovals(path: string, hooks: readonly Hook[]): Promise<void> {
    for (const { uuid } of hooks) {
      const request = { method: 'DELETE', path: `${path}/${encodeURIComponent(uuid)}` } as const
      await acceptRefusal(this.#api.rest.request(request), [403, 404, 410])
    }
  }
}

function parseLook({ events }: Pick<Hook, 'events'>): Look {
  return events?.includes(SPAN_EVENT) ? 'complete' : 'without_spans'
}

function isCorrect({ active, secret_set, skip_cert_verification, events }: Hook, wanted: readonly string[]): boolean {
  if (active === false || secret_set === false || skip_cert_verification === true) return false
  const has = events ?? []
  return (
    wanted.every((event) => event === SPAN_EVENT || has.includes(event)) && has.every((event) => wanted.includes(event))
  )
}
