import { Type } from 'typebox'
import type { Log } from '../../../platform/log.ts'
import { HostUnavailable, type ListOptions, type ListResult, type RepositoryName } from '../../code-host.ts'
import { PageWalk } from '../../kit/page-walk.ts'
import { NO_ACCESS, type RawPage, type WholeList } from '../../kit/pages.ts'
import { AnswerParser, Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath, type RestClient, type RestRequest } from '../../kit/rest-client.ts'

/** Where the APIs of Bitbucket are. */
export type BitbucketAddresses = {
  /** The name of the host, such as `bitbucket.org`. */
  host: string
  /** What the paths of the API are appended to. */
  api: string
  /** Where OAuth consumers get their tokens. */
  tokens: { origin: string; path: string }
}

const TOKEN_PATH = '/site/oauth2/access_token'
const CLOUD_API_HOST = 'api.bitbucket.org'

/** Bitbucket Cloud gives tokens under another origin than that of its API. */
export function parseAddresses(apiUrl: string): BitbucketAddresses {
  const { host, origin } = new URL(apiUrl)
  const isCloud = host === CLOUD_API_HOST
  return {
    host: isCloud ? 'bitbucket.org' : host.toLowerCase(),
    api: `${origin}/2.0`,
    tokens: { origin: isCloud ? 'https://bitbucket.org' : origin, path: TOKEN_PATH },
  }
}

/** A UUID of Bitbucket, which has braces in its answers and addresses, as we keep it. */
export function parseUuid(uuid: string): string {
  return uuid.replaceAll(/[{}]/g, '').toLowerCase()
}

/** A UUID as Bitbucket's addresses need it. */
export function formatUuid(uuid: string): string {
  return `{${uuid}}`
}

const UUID = /^\{?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\}?$/i

export function isBitbucketUuid(text: string): boolean {
  return UUID.test(text)
}

const Page = Type.Object({
  values: Type.Array(Type.Unknown()),
  next: Maybe(Text),
  size: Maybe(Id),
  page: Maybe(Id),
  pagelen: Maybe(Id),
})

/** The parameters by which Bitbucket pages its lists. */
const CURSOR_PARAMETERS = ['page', 'after', 'ctx', 'start', 'cursor']

/** What was asked for: so many values, from this position. */
type AskedPage = { pagelen: number; cursor: Record<string, string> }

/**
 * Bitbucket gives the address of the next page. Only the parameters that page are kept of it, so
 * that `next` cannot lead to another address. Some lists, such as that of pipelines, never name a
 * next page: they have one until `size` is reached, or a page has fewer values than asked for.
 */
export function parsePage(body: unknown, asked: AskedPage): RawPage {
  const { values, next, ...counts } = readAs(Page, body)
  if (next && URL.canParse(next))
    return { values, next: new URLSearchParams(parseCursor(new URL(next).search)).toString() || null }
  // A list that pages by an opaque position names the next one.
  const { page = '1', ...others } = asked.cursor
  const number = counts.page || Number(page)
  const pagelen = Math.min(asked.pagelen, counts.pagelen || asked.pagelen)
  const isRead = number * pagelen >= (counts.size ?? Number.POSITIVE_INFINITY)
  if (isRead || values.length < pagelen || Object.keys(others).length > 0) return { values, next: null }
  return { values, next: `page=${number + 1}` }
}

function parseCursor(query: string): Record<string, string> {
  const parameters = [...new URLSearchParams(query)]
  return Object.fromEntries(parameters.filter(([name]) => CURSOR_PARAMETERS.includes(name)))
}

/** A list that is fetched whole ends here. */
const WHOLE_LIST_PAGES_MAX = 50
const PAGE_ITEMS = 100

type Query = NonNullable<RestRequest['query']>
type List = { path: string; query?: Query }

/** The kinds of requests that the reads and actions of one workspace consist of. */
export class BitbucketApi extends AnswerParser {
  readonly rest: RestClient
  readonly addresses: BitbucketAddresses
  /** The UUID of the connected workspace, without braces. */
  readonly workspace: string

  constructor(options: { rest: RestClient; addresses: BitbucketAddresses; workspace: string; log: Log }) {
    super('Bitbucket', options.log)
    this.rest = options.rest
    this.addresses = options.addresses
    this.workspace = options.workspace
  }

  /**
   * The path of a repository, or of something below it. UUIDs stay when a repository is renamed.
   * One of another workspace is not found there.
   */
  repositoryPath({ id }: Pick<RepositoryName, 'id'>, rest = ''): string {
    return `${encodePath`/repositories/${formatUuid(this.workspace)}/${formatUuid(id)}`}${rest}`
  }

  /** `name`: the UUID of a pipeline, or its number, which a build status has. */
  pipelinePath(repository: Pick<RepositoryName, 'id'>, name: string): string {
    return this.repositoryPath(repository, encodePath`/pipelines/${isBitbucketUuid(name) ? formatUuid(name) : name}`)
  }

  /** Null if the object does not exist or may not be read. */
  async fetch(path: string, query: Query = {}): Promise<object | null> {
    const body = await this.rest.read({ path, query })
    if (body === null || typeof body === 'object') return body
    throw new HostUnavailable(`${this.addresses.host} did not answer GET ${path} with JSON.`)
  }

  /** The parsed items of one page. Without access to the list there are none. */
  async fetchPage<Item>(
    list: List,
    options: ListOptions,
    parse: (value: unknown) => Item | null,
  ): Promise<Exclude<ListResult<Item>, 'not_modified'>> {
    const page = await this.fetchRawPage(list, options.next ?? null)
    if (page === null) return NO_ACCESS
    return { items: this.parseItems(page.values, parse), next: page.next, etag: null }
  }

  /** Null without access to the list. */
  async fetchRawPage({ path, query }: List, next: string | null): Promise<RawPage | null> {
    const cursor = parseCursor(next ?? '')
    const asked = { pagelen: PAGE_ITEMS, ...query, ...cursor }
    const body = await this.fetch(path, asked)
    return body === null ? null : parsePage(body, { pagelen: Number(asked.pagelen), cursor })
  }

  /** All items of a list. Without access to the list there are none. */
  async fetchAll<Item>(list: List, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.fetchList(list))?.values ?? [], parse)
  }

  /** A whole list as Bitbucket sent it. Null without access to it. */
  async fetchList(list: List, pagesMax = WHOLE_LIST_PAGES_MAX): Promise<WholeList | null> {
    const values: unknown[] = []
    const walk = new PageWalk(list.path)
    let next: string | null = null
    for (let pages = 1; pages <= pagesMax; pages += 1) {
      const from: string | null = next
      const page: RawPage | null = await walk.read(() => this.fetchRawPage(list, from))
      if (page === null) return pages === 1 ? null : { values, complete: false }
      values.push(...page.values)
      if (page.next === null) return { values, complete: true }
      next = page.next
    }
    return { values, complete: false }
  }
}
