import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import {
  HostRefusal,
  HostUnavailable,
  type ListOptions,
  type ListResult,
  type RepositoryName,
} from '../../code-host.ts'
import type { Pace, Spacing } from '../../kit/api-fetch.ts'
import { PageWalk } from '../../kit/page-walk.ts'
import { readRefusable } from '../../kit/pages.ts'
import { AnswerParser } from '../../kit/payload.ts'
import { RestClient, type RestRequest, type RestResponse } from '../../kit/rest-client.ts'
import { acceptRefusal, CredentialsRefused, type FailedResponse, getMessage } from '../../kit/rest-error.ts'
import { type AppKeys, AppSignIn, InstallationSignIn } from './credentials.ts'

/** The parameters of a route. `repository` fills `{owner}` and `{repo}`. */
export type Parameters = { repository?: RepositoryName } & Record<string, unknown>

/** A page as GitHub sent it. `next` holds the parameters of the next page. */
export type RawPage = { data: unknown; next: string | null; etag: string | null }

type GithubApiOptions = {
  keys: AppKeys
  /** Null: requests are sent as the App itself. */
  installation: string | null
  /** Holds back requests that change something. All clients of an installation share it. */
  writes: Spacing
  pace: Pace
  log: Log
  clock: Clock
}

/** A list that is read whole ends here. */
const WHOLE_LIST_PAGES_MAX = 50
export const PAGE_ITEMS = 100
/** The parameters by which GitHub pages its lists. */
const CURSOR_PARAMETERS = ['page', 'after', 'cursor']
const HEADERS = {
  accept: 'application/vnd.github+json',
  'user-agent': 'shiplock',
  // Newer servers keep answering in the form of this version.
  'x-github-api-version': '2022-11-28',
}

/**
 * The kinds of requests that reads and actions consist of. Routes have the form of GitHub's
 * reference, such as `GET /repos/{owner}/{repo}/actions/runs`.
 */
export class GithubApi extends AnswerParser {
  readonly #options: GithubApiOptions
  readonly #names: RepositoryNames
  #opened: { base: string; rest: RestClient } | null = null

  constructor(options: GithubApiOptions) {
    super('GitHub', options.log)
    this.#options = options
    this.#names = new RepositoryNames((id) => this.read('GET /repositories/{id}', { id }), options.clock)
  }

  /** The id of our App, and the address of the API. Throws 409 `not_configured`. */
  async app(): Promise<{ app_id: string; api_url: string }> {
    return this.#options.keys.current()
  }

  now(): Date {
    return this.#options.clock.now()
  }

  /** Null if the object does not exist, may not be read, or is not known to the server. */
  async read(route: string, parameters: Parameters = {}): Promise<object | null> {
    const response = await acceptRefusal(this.#request(route, parameters), 'any')
    return response && requireObject(response.body, route)
  }

  /** Null only if the object does not exist. Throws `HostRefusal` if it may not be read. */
  async find(route: string, parameters: Parameters): Promise<object | null> {
    const response = await acceptRefusal(this.#request(route, parameters), [404])
    return response && requireObject(response.body, route)
  }

  /** The parsed items of one page. A list that GitHub refuses has none, and says why. */
  async readPage<Item>(
    route: string,
    parameters: Parameters,
    options: ListOptions,
    parse: (value: unknown) => Item | null,
  ): Promise<ListResult<Item>> {
    const read = this.requestPage(route, parameters, options)
    return readRefusable(
      read.then((page) => {
        if (page === 'not_modified') return page
        return { items: this.parseItems(parseValues(page.data), parse), next: page.next, etag: page.etag }
      }),
    )
  }

  /** Throws `HostRefusal` without access to the list. */
  async requestPage(
    route: string,
    parameters: Parameters,
    { next, etag }: ListOptions,
  ): Promise<RawPage | 'not_modified'> {
    const cursor = parseCursor(next ?? '')
    const headers = etag === undefined ? {} : { 'if-none-match': etag }
    const response = await this.#request(route, { per_page: PAGE_ITEMS, ...parameters, ...cursor }, headers)
    if (response.status === 304) return 'not_modified'
    const data = requireObject(response.body, route)
    return { data, next: parseNext(response, data, Number(cursor.page ?? 1)), etag: response.headers.get('etag') }
  }

  /** All items of a list. Without access to the list there are none. */
  async readAll<Item>(route: string, parameters: Parameters, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.readList(route, parameters)) ?? [], parse)
  }

  /** All items of a list as GitHub sent them. Null without access to the list. */
  async readList(route: string, parameters: Parameters): Promise<unknown[] | null> {
    const values: unknown[] = []
    const walk = new PageWalk(route)
    for (let next: string | null = '', pages = 0; next !== null && pages < WHOLE_LIST_PAGES_MAX; pages += 1) {
      const options: ListOptions = { next }
      const page: RawPage | 'not_modified' | null = await walk.read(() =>
        acceptRefusal(this.requestPage(route, parameters, options), 'any'),
      )
      if (page === null || page === 'not_modified') return null
      values.push(...parseValues(page.data))
      next = page.next
    }
    return values
  }

  /** Throws `HostRefusal` if GitHub does not accept the change. */
  async send(route: string, parameters: Parameters): Promise<void> {
    await this.#request(route, parameters)
  }

  /** A response whose body is not read yet, or a redirect to storage; null if there is none. */
  async openStream(route: string, parameters: Parameters): Promise<Response | null> {
    const rest = await this.#rest()
    return acceptRefusal(
      this.#names.send(parameters, async (named) => {
        const response = await rest.open(toRequest(route, named))
        // Names are looked up again if there is nothing.
        if (response === null) throw new HostRefusal(404, 'There is no such file.')
        return response
      }),
      'any',
    )
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
    const body = { query, variables: values }
    const rest = await this.#rest()
    const { api_url: apiUrl } = await this.app()
    // An Enterprise Server has its GraphQL beside its REST API.
    const path = apiUrl.endsWith('/api/v3') ? '/../graphql' : '/graphql'
    const response = await acceptRefusal(
      rest.request({ method: 'POST', path, headers: HEADERS, body, isQuery: true }),
      'any',
    )
    if (response === null) return null
    const { data, errors } = response.body as { data?: { repository?: Record<string, unknown> }; errors?: QueryError[] }
    if (errors?.some(({ type }) => type === 'RATE_LIMITED')) throw new HostUnavailable('GitHub limits our queries.')
    return data?.repository ?? null
  }

  async #request(route: string, parameters: Parameters, headers: Record<string, string> = {}): Promise<RestResponse> {
    const rest = await this.#rest()
    return this.#names.send(parameters, (named) => rest.request(toRequest(route, named, headers)))
  }

  /** The address of the API is a part of the credentials, which can be replaced. */
  async #rest(): Promise<RestClient> {
    const { api_url: base } = await this.#options.keys.current()
    if (this.#opened?.base !== base) this.#opened = { base, rest: this.#open(base) }
    return this.#opened.rest
  }

  #open(base: string): RestClient {
    const { keys, installation, writes, pace, clock } = this.#options
    const common = { provider: 'github', name: 'GitHub', base, explain, pace, clock } as const
    const signIn = new AppSignIn(keys, clock)
    const app = new RestClient({ ...common, writes, authorize: (renew, refused) => signIn.authorize(renew, refused) })
    if (installation === null) return app
    const installed = new InstallationSignIn({ keys, app, installation, pace, clock })
    return new RestClient({ ...common, writes, authorize: (renew) => installed.authorize(renew) })
  }
}

type QueryError = { type?: string }

/** Parameters that the route does not name are the query of a read, and the body of a change. */
function toRequest(
  route: string,
  { ...parameters }: Record<string, unknown>,
  headers: Record<string, string> = {},
): RestRequest {
  const [method, template] = route.split(' ') as [NonNullable<RestRequest['method']>, string]
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(parameters[name]))
    delete parameters[name]
    return value
  })
  const request = { method, path, headers: { ...HEADERS, ...headers } }
  if (method === 'GET') return { ...request, query: parameters as RestRequest['query'] & object }
  return Object.keys(parameters).length === 0 ? request : { ...request, body: parameters }
}

/** What GitHub means by refusals that concern our App, which can be put right. */
function explain({ status, body }: FailedResponse, what: string): HostUnavailable | null {
  if (status === 401) return new CredentialsRefused(`${what} GitHub does not accept the credentials of the App.`)
  if (status === 403 && /suspended/i.test(getMessage(body) ?? ''))
    return new HostUnavailable(`${what} The installation of the App is suspended.`)
  if (/\/access_tokens\b/.test(what))
    return new HostUnavailable(`${what} The App has no such installation, or may not use it.`)
  if (status >= 300 && status < 400) return new HostUnavailable(`${what} GitHub redirects to another address.`)
  return null
}

function requireObject(data: unknown, route: string): object {
  if (typeof data === 'object' && data !== null) return data
  throw new HostUnavailable(`GitHub's answer to ${route} is not JSON.`)
}

/** Some lists are arrays, others are in a field of an object with the count. */
export function parseValues(data: unknown): unknown[] {
  if (Array.isArray(data)) return data
  return Object.values(data as object).find(Array.isArray) ?? []
}

/**
 * Only the parameters of the next page are kept of its address, so that `next` cannot lead to
 * another address. Servers without the header `Link` may give the count.
 */
function parseNext({ headers }: RestResponse, data: object, page: number): string | null {
  const link = headers.get('link')
  const address = /<([^<>]*)>;[^<]*rel="next"/.exec(link ?? '')?.[1]
  if (address !== undefined && URL.canParse(address))
    return new URLSearchParams(parseCursor(new URL(address).search)).toString() || null
  const { total_count: count, total_commits: commits } = data as { total_count?: unknown; total_commits?: unknown }
  const total = Number(count ?? commits)
  return link === null && total > page * PAGE_ITEMS ? `page=${page + 1}` : null
}

function parseCursor(query: string): Record<string, string> {
  const parameters = [...new URLSearchParams(query)]
  return Object.fromEntries(parameters.filter(([name]) => CURSOR_PARAMETERS.includes(name)))
}

const RENAMES_MAX = 1000
const RENAME_AGE_MS_MAX = 5 * 60_000

/**
 * GitHub's routes name repositories, and a name that we know may be out of date. GitHub redirects
 * requests for old names until another repository takes the name; without a redirect the new name
 * is looked up by the id.
 */
class RepositoryNames {
  readonly #read: (id: string) => Promise<unknown>
  readonly #clock: Clock
  /** New names by id and old name. A null name: the lookup gave no other name. */
  readonly #renames = new Map<string, { name: string | null; at: number }>()

  constructor(read: (id: string) => Promise<unknown>, clock: Clock) {
    this.#read = read
    this.#clock = clock
  }

  /** Sends a request with the name of its repository, and repeats it after a rename. */
  async send<Result>(
    { repository, ...parameters }: { repository?: RepositoryName } & Record<string, unknown>,
    request: (named: Record<string, unknown>) => Promise<Result>,
  ): Promise<Result> {
    if (repository === undefined) return request(parameters)
    const known = this.#renames.get(formatKey(repository))?.name
    try {
      return await request({ ...parameters, ...splitName(known ?? repository.full_name) })
    } catch (error) {
      if (!(error instanceof HostRefusal) || error.status !== 404) throw error
      const name = await this.#findName(repository)
      if (name === null || name === known) throw error
      return request({ ...parameters, ...splitName(name) })
    }
  }

  /** Asks at most once in five minutes, because most missing objects have another cause. */
  async #findName(repository: RepositoryName): Promise<string | null> {
    const found = this.#renames.get(formatKey(repository))
    const now = this.#clock.now().getTime()
    if (found && now - found.at < RENAME_AGE_MS_MAX) return found.name
    const current = (await this.#read(repository.id)) as { full_name?: unknown } | null
    const fullName = typeof current?.full_name === 'string' ? current.full_name : null
    const name = fullName === repository.full_name ? null : fullName
    this.#remember(formatKey(repository), { name, at: now })
    return name
  }

  #remember(key: string, rename: { name: string | null; at: number }): void {
    const [oldest] = this.#renames.keys()
    if (oldest !== undefined && this.#renames.size >= RENAMES_MAX) this.#renames.delete(oldest)
    this.#renames.set(key, rename)
  }
}

function formatKey({ id, full_name }: RepositoryName): string {
  return `${id}/${full_name}`
}

function splitName(fullName: string): { owner: string; repo: string } {
  const slash = fullName.indexOf('/')
  return { owner: fullName.slice(0, slash), repo: fullName.slice(slash + 1) }
}
