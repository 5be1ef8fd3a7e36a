import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { type Clock, MINUTE_MS } from '../../../platform/clock.ts'
import {
  type HostClient,
  HostRefusal,
  type HostWebhooks,
  type RepositoryName,
  type WebhookTarget,
} from '../../code-host.ts'
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
 * part of the event after the colon is the action.
 */
export const readHead: HostWebhooks['readHead'] = (body, headers, target) => {
  const { 'x-request-uuid': id, 'x-event-key': event } = headers
  if (!isDeliveryId(id) || typeof event !== 'string') return null
  const action = EVENT.exec(event)?.[1]
  const payload = parseBody(body)
  if (action === undefined || payload === undefined) return null
  return {
    id,
    event,
    action,
    installation_id: target?.installation_id ?? null,
    lane: (event === SPAN_EVENT ? pipelineLane(payload) : objectLane(payload)) ?? `delivery:${id}`,
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

const CHECKED_MS = 10 * MINUTE_MS
const REPOSITORIES_MAX_PAGES = 20

const Hook = Type.Object({
  uuid: Text,
  url: Text,
  active: Maybe(Type.Boolean()),
  secret_set: Maybe(Type.Boolean()),
  skip_cert_verification: Maybe(Type.Boolean()),
  events: Maybe(Type.Array(Text)),
})
type Hook = Static<typeof Hook>

const Identified = Type.Object({ uuid: Text })

/** Where webhooks are registered, and when what was registered there was last correct. */
type Place = { path: string; events: readonly string[] }
type Checked = { target: string; at: number }

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
 * each repository.
 */
class BitbucketWebhooks {
  readonly #api: BitbucketApi
  readonly #clock: Clock
  readonly #workspacePath: string
  /** By path. A path that was refused has the value `refused`. */
  readonly #checked = new Map<string, Checked | 'refused'>()
  /** Where the host refused the event of pipelines. */
  readonly #withoutSpans = new Set<string>()

  constructor(api: BitbucketApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
    this.#workspacePath = encodePath`/workspaces/${formatUuid(api.workspace)}/hooks`
  }

  async ensure(repository: RepositoryName, target: WebhookTarget): Promise<void> {
    const workspace = this.#workspacePath
    const path = this.#api.repositoryPath(repository, '/hooks')
    if (this.#checked.get(workspace) !== 'refused') {
      if (await this.#ensureIn({ path: workspace, events: EVENTS }, target)) return this.#addSpans(path, target)
      this.#checked.set(workspace, 'refused')
    }
    if (await this.#ensureIn({ path, events: EVENTS }, target)) return
    throw new HostRefusal(403, `The credentials do not permit webhooks of ${repository.full_name} (scope "webhook").`)
  }

  /**
   * A webhook of the repository for the event that the workspace refused, if the host permits it.
   */
  async #addSpans(path: string, target: WebhookTarget): Promise<void> {
    if (!this.#withoutSpans.has(this.#workspacePath) || this.#checked.get(path) === 'refused') return
    if (!(await this.#ensureIn({ path, events: [SPAN_EVENT] }, target))) this.#checked.set(path, 'refused')
  }

  /**
   * Those of the workspace, and those of its repositories, which other credentials may have made.
   */
  async remove(address: string): Promise<void> {
    this.#checked.clear()
    const path = encodePath`/repositories/${formatUuid(this.#api.workspace)}`
    const list = { path, query: { fields: 'next,values.uuid' } }
    const repositories = await this.#api.fetchList(list, REPOSITORIES_MAX_PAGES)
    const ids = this.#api.parseItems(repositories?.values ?? [], (value) => readAs(Identified, value).uuid)
    const paths = ids.map((id) => this.#api.repositoryPath({ id: parseUuid(id) }, '/hooks'))
    for (const hooks of [this.#workspacePath, ...paths])
      for (const hook of (await this.#fetchHooks(hooks)) ?? [])
        if (hook.url === address) await this.#sendRemoval(hooks, hook)
  }

  /** False if webhooks may not be read or made there. */
  async #ensureIn(place: Place, target: WebhookTarget): Promise<boolean> {
    const now = this.#clock.now().getTime()
    const checked = this.#checked.get(place.path)
    const name = createHash('sha256').update(JSON.stringify(target)).digest('hex')
    const isSame = checked !== undefined && checked !== 'refused' && checked.target === name
    if (isSame && now - checked.at < CHECKED_MS) return true
    const hooks = await this.#fetchHooks(place.path)
    if (hooks === null || !(await this.#correct(place, target, { hooks, isSame }))) return false
    this.#checked.set(place.path, { target: name, at: now })
    return true
  }

  /**
   * Bitbucket never shows the secret, so it is sent again when it is not known to be this one.
   * False if the host refuses it.
   */
  async #correct(
    place: Place,
    target: WebhookTarget,
    { hooks, isSame }: { hooks: Hook[]; isSame: boolean },
  ): Promise<boolean> {
    const [own, ...others] = hooks.filter(({ url }) => url === target.address)
    for (const other of others) await this.#sendRemoval(place.path, other)
    if (own !== undefined && isSame && isCorrect(own, place.events)) return true
    const path = own === undefined ? place.path : `${place.path}/${encodeURIComponent(own.uuid)}`
    const body = {
      description: 'Shiplock',
      url: target.address,
      active: true,
      secret: target.secret,
      skip_cert_verification: false,
    }
    const method = own === undefined ? 'POST' : 'PUT'
    const send = (events: readonly string[]) =>
      acceptRefusal(this.#api.rest.request({ method, path, body: { ...body, events } }), [400, 403, 404])
    if (await send(place.events)) return true
    const withoutSpans = place.events.filter((event) => event !== SPAN_EVENT)
    if (withoutSpans.length === 0 || !(await send(withoutSpans))) return false
    this.#withoutSpans.add(place.path)
    return true
  }

  /** Null if they may not be read. */
  async #fetchHooks(path: string): Promise<Hook[] | null> {
    const found = await this.#api.fetchList({ path })
    return found && this.#api.parseItems(found.values, (value) => readAs(Hook, value))
  }

  async #sendRemoval(path: string, { uuid }: Hook): Promise<void> {
    const request = { method: 'DELETE', path: `${path}/${encodeURIComponent(uuid)}` } as const
    await acceptRefusal(this.#api.rest.request(request), [403, 404, 410])
  }
}

function isCorrect({ active, secret_set, skip_cert_verification, events }: Hook, wanted: readonly string[]): boolean {
  if (active === false || secret_set === false || skip_cert_verification === true) return false
  return wanted.every((event) => event === SPAN_EVENT || (events ?? []).includes(event))
}
