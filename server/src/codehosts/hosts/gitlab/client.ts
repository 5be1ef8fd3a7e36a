import { type Static, Type } from 'typebox'
import { type Clock, HOUR_MS, MINUTE_MS } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import {
  HostRefusal,
  HostUnavailable,
  type ListOptions,
  type ListResult,
  type RepositoryName,
} from '../../code-host.ts'
import type { HostAccount } from '../../host-repository.ts'
import { Remembered } from '../../kit/cache.ts'
import { PageWalk } from '../../kit/page-walk.ts'
import type { PartPage, RawPage } from '../../kit/pages.ts'
import { AnswerParser, Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath, type RestClient, type RestRequest, type RestResponse } from '../../kit/rest-client.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'

export type Query = NonNullable<RestRequest['query']>

/** A list that is read page by page. */
export type ListRequest = { path: string; query?: Query; options: ListOptions; pageItems?: number }

export const PAGE_ITEMS = 100

/** The most pages of a list that is read whole. */
const WHOLE_LIST_PAGES_MAX = 30

/**
 * GitLab's REST API (v4) with the credentials of one connection. Projects are named by their ids,
 * so renamed ones are found.
 */
export class GitlabApi extends AnswerParser {
  readonly #rest: RestClient

  /** `rest` has the base `https://gitlab.example.com/api`. */
  constructor(rest: RestClient, log: Log) {
    super('GitLab', log)
    this.#rest = rest
  }

  /** Null if the object does not exist, may not be read, or the edition does not have it. */
  async read(path: string, query: Query = {}): Promise<object | null> {
    const body = await this.#rest.read({ path: `/v4${path}`, query })
    if (typeof body === 'object') return body
    throw new HostUnavailable(`GitLab's answer to ${path} is not JSON.`)
  }

  /** The body of a text, such as a log, which is not read yet; null as for `read`. */
  async openText(path: string): Promise<ReadableStream<Uint8Array> | null> {
    const response = await this.#rest.open({ path: `/v4${path}`, headers: { accept: 'text/plain' } })
    if (response?.ok) return response.body
    await response?.body?.cancel()
    return null
  }

  /** Like `read`, but throws `HostRefusal` instead of returning null. */
  async find(path: string, query: Query = {}): Promise<unknown> {
    return (await this.#rest.request({ path: `/v4${path}`, query })).body
  }

  /** Throws `HostRefusal` if GitLab does not accept the change. */
  async send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<unknown> {
    return (await this.#rest.request({ method, path: `/v4${path}`, body })).body
  }

  /** The data that GraphQL answers to a query or a mutation. */
  async query(query: string, variables: Record<string, unknown>): Promise<unknown> {
    const { body } = await this.#rest.request({ method: 'POST', path: '/graphql', body: { query, variables } })
    const { data, errors } = Object(body) as { data?: unknown; errors?: { message?: unknown }[] }
    if (errors !== undefined) throw new HostRefusal(422, `GitLab refused the query: ${errors[0]?.message}`)
    return data
  }

  /** A page of a list. Without access to the list it is empty and has no version. */
  async readPage<Item>(request: ListRequest, parse: (value: unknown) => Item | null): Promise<ListResult<Item>> {
    const response = await acceptRefusal(this.#requestPage(request))
    if (response === null) return { items: [], next: null, etag: null }
    if (response.status === 304) return 'not_modified'
    const items = this.parseItems(parseValues(response, request.path), parse)
    return { items, next: parseNext(response), etag: response.headers.get('etag') ?? '' }
  }

  /** The same without a version. Null without access to the list. */
  async readPart<Item>(request: ListRequest, parse: (value: unknown) => Item | null): Promise<PartPage<Item> | null> {
    const page = await this.#readRawPage(request)
    return page && { items: this.parseItems(page.values, parse), next: page.next }
  }

  /** All values of a list, up to `pagesMax` pages. Null without access to the list. */
  async readList(path: string, query: Query = {}, pagesMax = WHOLE_LIST_PAGES_MAX): Promise<unknown[] | null> {
    const values: unknown[] = []
    const walk = new PageWalk(path)
    for (let next: string | null = '', pages = 0; next !== null && pages < pagesMax; pages += 1) {
      const options: ListOptions = next === '' ? {} : { next }
      const page: RawPage | null = await walk.read(() => this.#readRawPage({ path, query, options }))
      if (page === null) return null
      values.push(...page.values)
      next = page.next
    }
    return values
  }

  /** All items of a list. Without access to the list there are none. */
  async readAll<Item>(path: string, query: Query, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.readList(path, query)) ?? [], parse)
  }

  async #readRawPage(request: ListRequest): Promise<RawPage | null> {
    const response = await acceptRefusal(this.#requestPage(request))
    return response && { values: parseValues(response, request.path), next: parseNext(response) }
  }

  #requestPage({ path, query = {}, options: { next, etag }, pageItems = PAGE_ITEMS }: ListRequest) {
    const page = /^[1-9]\d{0,8}$/.test(next ?? '') ? next : undefined
    const headers: Record<string, string> = etag ? { 'if-none-match': etag } : {}
    return this.#rest.request({ path: `/v4${path}`, query: { per_page: pageItems, ...query, page }, headers })
  }
}

/** Only the number of the next page is used, so that `next` cannot lead to another address. */
function parseNext({ headers }: RestResponse): string | null {
  const next = headers.get('x-next-page') ?? ''
  return /^[1-9]\d{0,8}$/.test(next) ? next : null
}

function parseValues({ body }: RestResponse, path: string): unknown[] {
  if (Array.isArray(body)) return body
  throw new HostUnavailable(`GitLab's answer to ${path} is not a list.`)
}

type Options = {
  api: GitlabApi
  /** The id of the connected namespace. */
  accountId: string
  /** The name of the host, such as `gitlab.com`. */
  host: string
  /** `https://gitlab.com/api/v4` */
  apiUrl: string
  clock: Clock
}

/** What the reads and actions of one connection share. */
export class Session {
  readonly api: GitlabApi
  readonly host: string
  readonly apiUrl: string
  readonly clock: Clock
  readonly #accountId: string
  readonly #accounts: Remembered<ConnectedAccount>
  readonly #settings: Remembered<ProjectSettings>
  readonly #users: Remembered<HostAccount | null>
  readonly #parents: Remembered<string | null>

  constructor({ api, accountId, host, apiUrl, clock }: Options) {
    this.api = api
    this.host = host
    this.apiUrl = apiUrl
    this.clock = clock
    this.#accountId = accountId
    this.#accounts = new Remembered({ read: (id) => fetchAccount(api, id), clock, ageMsMax: 5 * MINUTE_MS })
    this.#settings = new Remembered({
      read: async (id) => parseProjectSettings((await api.read(formatProjectPath({ id }))) ?? {}),
      clock,
      ageMsMax: 5 * MINUTE_MS,
    })
    this.#users = new Remembered({ read: (id) => fetchUser(api, id), clock, ageMsMax: HOUR_MS })
    this.#parents = new Remembered({ read: (id) => fetchParent(api, id), clock, ageMsMax: MINUTE_MS })
  }

  /** The connected account. Its path can change, its id cannot. Throws `HostRefusal` without it. */
  account(): Promise<ConnectedAccount> {
    return this.#accounts.get(this.#accountId)
  }

  /** Whether a namespace is the connected one or below it, by ids: names change. */
  async isConnected({ id, parent_id }: NamespaceIds): Promise<boolean> {
    let parent = parent_id === undefined ? await this.#parents.get(String(id)) : toId(parent_id)
    let namespace = String(id)
    for (let depth = 0; namespace !== this.#accountId; depth += 1) {
      if (parent === null || depth === NAMESPACES_DEPTH_MAX) return false
      namespace = parent
      if (namespace !== this.#accountId) parent = await this.#parents.get(namespace)
    }
    return true
  }

  settings({ id }: Pick<RepositoryName, 'id'>): Promise<ProjectSettings> {
    return this.#settings.get(id)
  }

  /** Null for an account that was deleted or may not be read. */
  user(id: string): Promise<HostAccount | null> {
    return this.#users.get(id)
  }

  /** The user that our token belongs to. */
  async self(): Promise<HostAccount | null> {
    return this.#users.get('')
  }
}

async function fetchAccount(api: GitlabApi, id: string): Promise<ConnectedAccount> {
  const account = await fetchConnectedAccount(api, id)
  if (account === null) throw new HostRefusal(404, `GitLab has no group ${id} that the token may read.`)
  return account
}

/** The group, or the namespace of a user, with this id or path. Null if it may not be read. */
export async function fetchConnectedAccount(api: GitlabApi, id: string): Promise<ConnectedAccount | null> {
  const group = await api.read(encodePath`/groups/${id}`, { with_projects: false })
  if (group !== null) return parseGroup(group)
  const namespace = await api.read(encodePath`/namespaces/${id}`)
  return namespace && parseNamespace(namespace)
}

/** GitLab nests groups 20 deep. */
const NAMESPACES_DEPTH_MAX = 20

/** Older servers do not name the parent. */
type NamespaceIds = { id: number; parent_id?: number | null | undefined }

const Parent = Type.Object({ parent_id: Maybe(Id) })

/** Null for a group without a parent, the namespace of a user, and a group that may not be read. */
async function fetchParent(api: GitlabApi, id: string): Promise<string | null> {
  const group = await api.read(encodePath`/groups/${id}`, { with_projects: false })
  return group && toId(readAs(Parent, group).parent_id)
}

function toId(id: number | null | undefined): string | null {
  return id ? String(id) : null
}

const CurrentUser = Type.Object({ id: Id, username: Text, is_admin: Maybe(Type.Boolean()) })
const GroupMember = Type.Object({ access_level: Type.Integer() })

/** The access level of the role Maintainer (GitLab, "Members API"). */
const MAINTAINER = 40

/**
 * Whether the user of the token may connect the account: a Maintainer of the group, also by a group
 * above it, the user of the namespace, or an administrator of the server. An account is connected
 * once, so whoever may only read it must not take it.
 */
export async function canConnect(api: GitlabApi, { id, login, type }: ConnectedAccount): Promise<boolean> {
  const user = readAs(CurrentUser, await api.find('/user'))
  if (user.is_admin === true) return true
  if (type === 'user') return user.username.toLowerCase() === login.toLowerCase()
  const member = await api.read(encodePath`/groups/${id}/members/all/${String(user.id)}`)
  return member !== null && readAs(GroupMember, member).access_level >= MAINTAINER
}

async function fetchUser(api: GitlabApi, id: string): Promise<HostAccount | null> {
  const user = await api.read(id === '' ? '/user' : encodePath`/users/${id}`)
  return user && parseAccount(user)
}

/** `/projects/7` */
export function formatProjectPath({ id }: Pick<RepositoryName, 'id'>): string {
  return encodePath`/projects/${id}`
}

/** A person or a bot. */
export const Account = Type.Object({
  id: Id,
  username: Text,
  name: Maybe(Text),
  avatar_url: Maybe(Text),
  web_url: Maybe(Text),
  bot: Maybe(Type.Boolean()),
})

/** The names that GitLab gives to the users of project and group access tokens. */
const TOKEN_USER = /^(?:project|group)_\d+_bot/

/** Null for deleted accounts. */
export function toHostAccount(account: Static<typeof Account> | null | undefined): HostAccount | null {
  if (!account) return null
  return {
    id: String(account.id),
    login: account.username,
    name: parseText(account.name),
    avatar_url: parseText(account.avatar_url),
    url: parseText(account.web_url),
    is_bot: account.bot ?? TOKEN_USER.test(account.username),
  }
}

export function parseAccount(value: unknown): HostAccount {
  return toHostAccount(readAs(Account, value)) as HostAccount
}

/** What a connection is tied to: a group with its subgroups, or the namespace of a user. */
export type ConnectedAccount = { id: string; login: string; type: 'group' | 'user' }

const Group = Type.Object({ id: Id, full_path: Text })

function parseGroup(value: unknown): ConnectedAccount {
  const { id, full_path } = readAs(Group, value)
  return { id: String(id), login: full_path, type: 'group' }
}

const Namespace = Type.Object({ id: Id, kind: Text, full_path: Text })

/** Groups and users share the ids of namespaces. */
function parseNamespace(value: unknown): ConnectedAccount {
  const { id, kind, full_path } = readAs(Namespace, value)
  return { id: String(id), login: full_path, type: kind === 'user' ? 'user' : 'group' }
}

const Settings = Type.Object({
  ci_config_path: Maybe(Text),
  merge_trains_enabled: Maybe(Type.Boolean()),
  only_allow_merge_if_pipeline_succeeds: Maybe(Type.Boolean()),
  only_allow_merge_if_all_status_checks_passed: Maybe(Type.Boolean()),
})

export type ProjectSettings = {
  /** Null if the file is in another project or at another address. */
  ci_config_path: string | null
  merge_trains: boolean
  needs_pipeline: boolean
  needs_status_checks: boolean
}

const CONFIG_PATH = '.gitlab-ci.yml'

function parseProjectSettings(value: unknown): ProjectSettings {
  const settings = readAs(Settings, value)
  const path = parseText(settings.ci_config_path) ?? CONFIG_PATH
  return {
    ci_config_path: /[@:]/.test(path) ? null : path,
    merge_trains: settings.merge_trains_enabled ?? false,
    needs_pipeline: settings.only_allow_merge_if_pipeline_succeeds ?? false,
    needs_status_checks: settings.only_allow_merge_if_all_status_checks_passed ?? false,
  }
}
