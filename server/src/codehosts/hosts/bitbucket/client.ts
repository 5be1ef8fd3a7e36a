import type { Log } from '../../../platform/log.ts'
import { HostUnavailable, type ListOptions, type ListResult, type RepositoryName } from '../../code-host.ts'
import { AnswerParser } from '../../kit/answer-parser.ts'
import type { RestClient, RestRequest } from '../../kit/rest-client.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { BitbucketAddresses } from './client/addresses.ts'
import { cursorOf, pageOf, type RawPage } from './client/page.ts'
import { bracedUuid, isBitbucketUuid } from './client/uuid.ts'

/** A list that is read whole ends here. */
const WHOLE_LIST_PAGES_MAX = 50
const PAGE_ITEMS = 100

type Query = NonNullable<RestRequest['query']>
type List = { path: string; query?: Query }

/** The kinds of requests that reads and actions of one workspace consist of. */
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

  /** UUIDs stay when a repository is renamed. One of another workspace is not found there. */
  pathOf({ id }: Pick<RepositoryName, 'id'>, rest = ''): string {
    return `${restPath`/repositories/${bracedUuid(this.workspace)}/${bracedUuid(id)}`}${rest}`
  }

  /** `name`: the UUID of a pipeline, or its number, which a build status has. */
  pipelinePath(repository: Pick<RepositoryName, 'id'>, name: string): string {
    return this.pathOf(repository, restPath`/pipelines/${isBitbucketUuid(name) ? bracedUuid(name) : name}`)
  }

  /** Null if the object does not exist or may not be read. */
  async read(path: string, query: Query = {}): Promise<object | null> {
    const body = await this.rest.read({ path, query })
    if (body === null || typeof body === 'object') return body
    throw new HostUnavailable(`${this.addresses.host} did not answer GET ${path} with JSON.`)
  }

  /** The parsed items of one page. Without access to the list there are none. */
  async readPage<Item>(
    list: List,
    options: ListOptions,
    parse: (value: unknown) => Item | null,
  ): Promise<Exclude<ListResult<Item>, 'not_modified'>> {
    const page = await this.requestPage(list, options.next ?? null)
    if (page === null) return { items: [], next: null, etag: null }
    return { items: this.parseItems(page.values, parse), next: page.next, etag: null }
  }

  /** Null without access to the list. */
  async requestPage({ path, query }: List, next: string | null): Promise<RawPage | null> {
    const body = await this.read(path, { pagelen: PAGE_ITEMS, ...query, ...cursorOf(next ?? '') })
    return body === null ? null : pageOf(body)
  }

  /** All items of a list. Without access to the list there are none. */
  async readAll<Item>(list: List, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.readList(list))?.values ?? [], parse)
  }

  /** A whole list as Bitbucket sent it. Null without access to it. */
  async readList(
    list: List,
    pagesMax = WHOLE_LIST_PAGES_MAX,
  ): Promise<{ values: unknown[]; complete: boolean } | null> {
    const values: unknown[] = []
    let next: string | null = null
    for (let pages = 1; pages <= pagesMax; pages += 1) {
      const page: RawPage | null = await this.requestPage(list, next)
      if (page === null) return pages === 1 ? null : { values, complete: false }
      values.push(...page.values)
      if (page.next === null) return { values, complete: true }
      next = page.next
    }
    return { values, complete: false }
  }
}
