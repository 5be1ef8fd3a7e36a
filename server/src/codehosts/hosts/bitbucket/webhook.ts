import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { type Clock, MINUTE_MS } from '../../../platform/clock.ts'
import { type HostClient, HostRefusal, type RepositoryName, type WebhookTarget } from '../../code-host.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { orNull } from '../../kit/rest-error.ts'
import type { BitbucketApi } from './client.ts'
import { bareUuid, bracedUuid } from './client/uuid.ts'
import { EVENTS } from './events.ts'

const CHECKED_MS = 10 * MINUTE_MS
/** Bitbucket documents this event for repositories: a workspace may refuse it. */
const SPAN_EVENT = 'pipeline:span_created'
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

/** Where webhooks are registered, and when what was registered there was last correct. */
type Place = { path: string; events: readonly string[] }
type Checked = { target: string; at: number }

/**
 * The webhooks of one connection: one of the workspace if the credentials permit it, else one of
 * each repository.
 */
export class BitbucketWebhooks implements Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'> {
  readonly #api: BitbucketApi
  readonly #clock: Clock
  /** By path. A path that was refused has the value `refused`. */
  readonly #checked = new Map<string, Checked | 'refused'>()
  /** Where the host refused the event of pipelines. */
  readonly #withoutSpans = new Set<string>()

  constructor(api: BitbucketApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  ensureWebhook = async (repository: RepositoryName, target: WebhookTarget): Promise<void> => {
    const workspace = this.#workspacePath()
    if (this.#checked.get(workspace) !== 'refused') {
      if (await this.#ensureIn({ path: workspace, events: EVENTS }, target)) return this.#addSpans(repository, target)
      this.#checked.set(workspace, 'refused')
    }
    const path = this.#hooksOf(repository)
    if (await this.#ensureIn({ path, events: EVENTS }, target)) return
    throw new HostRefusal(403, `The credentials do not permit webhooks of ${repository.full_name} (scope "webhook").`)
  }

  /**
   * A webhook of the repository for the event that the workspace refused, if the host permits it.
   */
  async #addSpans(repository: RepositoryName, target: WebhookTarget): Promise<void> {
    if (!this.#withoutSpans.has(this.#workspacePath())) return
    const path = this.#hooksOf(repository)
    if (this.#checked.get(path) === 'refused') return
    if (!(await this.#ensureIn({ path, events: [SPAN_EVENT] }, target))) this.#checked.set(path, 'refused')
  }

  #hooksOf(repository: Pick<RepositoryName, 'id'>): string {
    return this.#api.pathOf(repository, '/hooks')
  }

  /**
   * Those of the workspace, and those of its repositories, which other credentials may have made.
   */
  removeWebhooks = async (address: string): Promise<void> => {
    this.#checked.clear()
    const path = restPath`/repositories/${bracedUuid(this.#api.workspace)}`
    const list = { path, query: { fields: 'next,values.uuid' } }
    const repositories = await this.#api.readList(list, REPOSITORIES_MAX_PAGES)
    const ids = this.#api.parseItems(repositories?.values ?? [], (value) => readAs(Identified, value).uuid)
    const paths = ids.map((id) => this.#hooksOf({ id: bareUuid(id) }))
    for (const hooks of [this.#workspacePath(), ...paths]) await this.#removeIn(hooks, address)
  }

  #workspacePath(): string {
    return restPath`/workspaces/${bracedUuid(this.#api.workspace)}/hooks`
  }

  /** False if webhooks may not be read or made there. */
  async #ensureIn(place: Place, target: WebhookTarget): Promise<boolean> {
    const now = this.#clock.now().getTime()
    const checked = this.#checked.get(place.path)
    const name = createHash('sha256').update(JSON.stringify(target)).digest('hex')
    const isKnown = checked !== undefined && checked !== 'refused' && checked.target === name
    if (isKnown && now - checked.at < CHECKED_MS) return true
    const hooks = await this.#listIn(place.path)
    if (hooks === null || (await this.#correct(place, target, { hooks, isKnown })) === null) return false
    this.#checked.set(place.path, { target: name, at: now })
    return true
  }

  /** Bitbucket never shows the secret, so it is sent again when it is not known to be this one. */
  async #correct(
    place: Place,
    target: WebhookTarget,
    { hooks, isKnown }: { hooks: Hook[]; isKnown: boolean },
  ): Promise<true | null> {
    const [own, ...others] = hooks.filter(({ url }) => url === target.address)
    for (const other of others) await this.#remove(place.path, other)
    if (own !== undefined && isKnown && isCorrect(own, place.events)) return true
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
      orNull(this.#api.rest.request({ method, path, body: { ...body, events } }), [400, 403, 404])
    if (await send(place.events)) return true
    const withoutSpans = place.events.filter((event) => event !== SPAN_EVENT)
    if (withoutSpans.length === 0 || !(await send(withoutSpans))) return null
    this.#withoutSpans.add(place.path)
    return true
  }

  /** Null if they may not be read. */
  async #listIn(path: string): Promise<Hook[] | null> {
    const found = await this.#api.readList({ path })
    return found && this.#api.parseItems(found.values, (value) => readAs(Hook, value))
  }

  async #removeIn(path: string, address: string): Promise<void> {
    const hooks = (await this.#listIn(path)) ?? []
    for (const hook of hooks.filter(({ url }) => url === address)) await this.#remove(path, hook)
  }

  async #remove(path: string, { uuid }: Hook): Promise<void> {
    await orNull(
      this.#api.rest.request({ method: 'DELETE', path: `${path}/${encodeURIComponent(uuid)}` }),
      [403, 404, 410],
    )
  }
}

const Identified = Type.Object({ uuid: Text })

function isCorrect({ active, secret_set, skip_cert_verification, events }: Hook, wanted: readonly string[]): boolean {
  if (active === false || secret_set === false || skip_cert_verification === true) return false
  return wanted.every((event) => event === SPAN_EVENT || (events ?? []).includes(event))
}
