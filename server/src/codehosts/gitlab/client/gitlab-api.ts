import type { Log } from '../../../platform/log.ts'
import type { ListOptions, ListResult } from '../../code-host.ts'
import { HostRefusal, HostUnavailable } from '../../code-host.ts'
import { AnswerParser } from '../../kit/answer-parser.ts'
import type { RestClient, RestRequest, RestResponse } from '../../kit/rest-client.ts'
import { orNull } from '../../kit/rest-error.ts'

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
    const response = await orNull(this.#requestPage(request))
    if (response === null) return { items: [], next: null, etag: null }
    if (response.status === 304) return 'not_modified'
    const items = this.parseItems(itemsOf(response, request.path), parse)
    return { items, next: nextOf(response), etag: response.headers.get('etag') ?? '' }
  }

  /** All values of a list, up to `pagesMax` pages. Null without access to the list. */
  async readList(path: string, query: Query = {}, pagesMax = WHOLE_LIST_PAGES_MAX): Promise<unknown[] | null> {
    const values: unknown[] = []
    let next: string | undefined
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const response = await orNull(this.#requestPage({ path, query, options: next === undefined ? {} : { next } }))
      if (response === null) return null
      values.push(...itemsOf(response, path))
      const following = nextOf(response)
      if (following === null) break
      next = following
    }
    return values
  }

  /** All items of a list. Without access to the list there are none. */
  async readAll<Item>(path: string, query: Query, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.readList(path, query)) ?? [], parse)
  }

  #requestPage({ path, query = {}, options: { next, etag }, pageItems = PAGE_ITEMS }: ListRequest) {
    const page = /^[1-9]\d{0,8}$/.test(next ?? '') ? next : undefined
    const headers: Record<string, string> = etag ? { 'if-none-match': etag } : {}
    return this.#rest.request({ path: `/v4${path}`, query: { per_page: pageItems, ...query, page }, headers })
  }
}

/** Only the number of the next page is used, so that `next` cannot lead to another address. */
function nextOf({ headers }: RestResponse): string | null {
  const next = headers.get('x-next-page') ?? ''
  return /^[1-9]\d{0,8}$/.test(next) ? next : null
}

function itemsOf({ body }: RestResponse, path: string): unknown[] {
  if (Array.isArray(body)) return body
  throw new HostUnavailable(`GitLab's answer to ${path} is not a list.`)
}
