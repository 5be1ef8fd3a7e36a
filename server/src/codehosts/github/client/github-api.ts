import type { Log } from '../../../platform/log.ts'
import { HostUnavailable, type ListOptions, type ListResult, type RepositoryName } from '../../code-host.ts'
import { AnswerParser } from '../../kit/answer-parser.ts'
import { orNull } from '../../kit/rest-error.ts'
import { cursorOf, itemsOf, nextOf, PAGE_ITEMS, type RawPage, type Response, textOf } from './page.ts'
import { RepositoryNames } from './repository-names.ts'
import type { Session } from './session.ts'

/** The parameters of a route. `repository` fills `{owner}` and `{repo}`. */
export type Parameters = { repository?: RepositoryName } & Record<string, unknown>

type QueryError = { type?: string }

/** A list that is read whole ends here. */
const WHOLE_LIST_PAGES_MAX = 50

/**
 * The kinds of requests that reads and actions consist of. Routes have the form of GitHub's
 * reference, such as `GET /repos/{owner}/{repo}/actions/runs`.
 */
export class GithubApi extends AnswerParser {
  readonly session: Session
  readonly #names: RepositoryNames

  constructor(session: Session, log: Log, now: () => Date) {
    super('GitHub', log)
    this.session = session
    this.#names = new RepositoryNames((id) => this.read('GET /repositories/{id}', { id }), now)
  }

  /** Null if the object does not exist, may not be read, or is not known to the server. */
  async read(route: string, parameters: Parameters = {}): Promise<object | null> {
    const response = await orNull(this.#request(route, parameters), 'any')
    return response && objectOf(response.data, route)
  }

  /** Null only if the object does not exist. Throws `HostRefusal` if it may not be read. */
  async find(route: string, parameters: Parameters): Promise<object | null> {
    const response = await orNull(this.#request(route, parameters), [404])
    return response && objectOf(response.data, route)
  }

  /** The parsed items of one page. Without access to the list there are none. */
  async readPage<Item>(
    route: string,
    parameters: Parameters,
    options: ListOptions,
    parse: (value: unknown) => Item | null,
  ): Promise<ListResult<Item>> {
    const page = await this.requestPage(route, parameters, options)
    if (page === null) return { items: [], next: null, etag: null }
    if (page === 'not_modified') return page
    return { items: this.parseItems(itemsOf(page.data), parse), next: page.next, etag: page.etag }
  }

  /** Null without access to the list. */
  async requestPage(
    route: string,
    parameters: Parameters,
    { next, etag }: ListOptions,
  ): Promise<RawPage | 'not_modified' | null> {
    const cursor = cursorOf(next ?? '')
    const headers = etag === undefined ? {} : { 'if-none-match': etag }
    const request = this.#request(route, { per_page: PAGE_ITEMS, ...parameters, ...cursor, headers })
    const response = await orNull(request, 'any')
    if (response === null) return null
    if (response.status === 304) return 'not_modified'
    const data = objectOf(response.data, route)
    return { data, next: nextOf(response, data, Number(cursor.page ?? 1)), etag: textOf(response.headers.etag) }
  }

  /** All items of a list. Without access to the list there are none. */
  async readAll<Item>(route: string, parameters: Parameters, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.readList(route, parameters)) ?? [], parse)
  }

  /** All items of a list as GitHub sent them. Null without access to the list. */
  readList(route: string, parameters: Parameters): Promise<unknown[] | null> {
    return orNull(
      this.#names.send(parameters, (named) => this.#collect(route, named)),
      'any',
    )
  }

  #collect(route: string, parameters: Record<string, unknown>): Promise<unknown[]> {
    return this.session.run(async ({ reads }) => {
      const values: unknown[] = []
      let pages = 0
      for await (const { data } of reads.paginate.iterator(route, { per_page: PAGE_ITEMS, ...parameters })) {
        values.push(...itemsOf(objectOf(data, route)))
        pages += 1
        if (pages === WHOLE_LIST_PAGES_MAX) break
      }
      return values
    })
  }

  /** Throws `HostRefusal` if GitHub does not accept the change. */
  async send(route: string, parameters: Parameters): Promise<void> {
    await this.#names.send(parameters, async (named) =>
      withoutRedirect(await this.session.run(({ writes }) => writes.request(route, named)), route),
    )
  }

  /** A response whose body is not read yet; null if there is none. */
  async openStream(
    route: string,
    parameters: Parameters,
  ): Promise<{ location: string | null; body: ReadableStream<Uint8Array> | null } | null> {
    const response = await orNull(
      this.#names.send(parameters, (named) =>
        this.session.run(({ reads, streaming }) => reads.request(route, { ...named, request: streaming })),
      ),
      'any',
    )
    if (response === null) return null
    const body = response.status === 200 ? (response.data as ReadableStream<Uint8Array>) : null
    return { location: textOf(response.headers.location), body }
  }

  /**
   * The fields of a repository by GraphQL, with null for what could not be read; null if GraphQL is
   * refused. `variables` are texts.
   */
  async queryRepository(
    repository: RepositoryName,
    fields: string[],
    variables: Record<string, string>,
  ): Promise<Record<string, unknown> | null> {
    const [owner, name] = repository.full_name.split('/') as [string, string]
    const values = { ...variables, owner, name }
    const declared = Object.keys(values).map((variable) => `$${variable}: String!`)
    const query = `query(${declared.join(', ')}) { repository(owner: $owner, name: $name) { ${fields.join('\n')} } }`
    const response = await orNull(
      this.session.run(({ reads, key }) =>
        reads.request(`POST ${graphqlUrl(key.api_url)}`, { query, variables: values }),
      ),
      'any',
    )
    if (response === null) return null
    const { data, errors } = response.data as { data?: { repository?: Record<string, unknown> }; errors?: QueryError[] }
    if (errors?.some(({ type }) => type === 'RATE_LIMITED')) throw new HostUnavailable('GitHub limits our queries.')
    return data?.repository ?? null
  }

  #request(route: string, parameters: Parameters): Promise<Response> {
    return this.#names.send(parameters, async (named) =>
      withoutRedirect(
        await this.session.run(({ reads }) => reads.request(route, named).catch(acceptNotModified)),
        route,
      ),
    )
  }
}

/** An Enterprise Server has its GraphQL beside its REST API. */
function graphqlUrl(apiUrl: string): string {
  return apiUrl.endsWith('/api/v3') ? apiUrl.replace(/\/v3$/, '/graphql') : `${apiUrl}/graphql`
}

function acceptNotModified(error: { status?: number }): Response {
  if (error.status === 304) return { status: 304, headers: {}, data: null }
  throw error
}

/** Redirects within the API were followed. One to another address is a wrong address of the API. */
function withoutRedirect(response: Response, route: string): Response {
  if (response.status < 300 || response.status === 304) return response
  throw new HostUnavailable(`GitHub redirects ${route} to another address.`)
}

/** Octokit returns a text if the body is not JSON. */
function objectOf(data: unknown, route: string): object {
  if (typeof data === 'object' && data !== null) return data
  throw new HostUnavailable(`GitHub's answer to ${route} is not JSON.`)
}
