import { Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { HostRefusal } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import { AnswerParser } from '../../kit/answer-parser.ts'
import type { Pace } from '../../kit/pace.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { RestClient, type RestRequest, type RestResponse, restPath } from '../../kit/rest-client.ts'
import { orNull } from '../../kit/rest-error.ts'
import type { AzureUrls } from './client/azure-urls.ts'
import type { SignIn } from './credentials.ts'

/** The version of the API that answers are read in. Some parts exist as a preview only. */
const API_VERSION = '7.1'
/** Advanced Security exists as a preview only. */
const SECURITY_VERSION = '7.2-preview.1'
/** The area `core`, by which the address of an organization is found from its id. */
const CORE_AREA = '79134c72-4a58-4b42-976c-04e7115f32bf'
/** An organization can be renamed. */
const NAME_AGE_MS_MAX = 10 * 60_000
const PROJECTS_MAX = 10_000
const WHOLE_LIST_PAGES_MAX = 20

export type AzureApiOptions = {
  urls: AzureUrls
  signIn: SignIn
  /** The id of the connected organization. */
  organizationId: string
  /** The id of the connection; null before there is one. */
  connectionId: string | null
  pace: Pace
  log: Log
  clock: Clock
}

/** `preview`: the number of the preview, for parts of the API that exist as a preview only. */
export type AzureRequest = RestRequest & { preview?: number; security?: boolean }

/** A page as it was sent. `next` continues it. */
export type RawPage = { values: unknown[]; next: string | null }

/** Requests to one organization of Azure DevOps. */
export class AzureApi extends AnswerParser {
  readonly options: AzureApiOptions
  readonly #main: RestClient
  readonly #security: RestClient
  readonly #projects = new Map<string, Promise<string | null>>()
  #name: { value: Promise<string | null>; readAt: number } | null = null

  constructor(options: AzureApiOptions) {
    super('Azure DevOps', options.log)
    this.options = options
    const { urls, signIn, pace, clock } = options
    const authorize = (renew: boolean) => signIn.authorize(renew)
    const open = (base: string) =>
      new RestClient({ provider: 'azure', base, authorize, isSignIn: isSignInPage, pace, clock })
    this.#main = open(urls.main)
    this.#security = urls.security === urls.main ? this.#main : open(urls.security)
  }

  now(): Date {
    return this.options.clock.now()
  }

  /** The name of the connected organization. Throws `HostRefusal` if it does not exist. */
  async organization(): Promise<string> {
    const now = this.now().getTime()
    const isOld = this.#name === null || now - this.#name.readAt > NAME_AGE_MS_MAX
    const known = isOld ? { value: this.findName(this.options.organizationId), readAt: now } : this.#name
    this.#name = known
    const name = await known?.value.catch((error) => {
      this.#name = null
      throw error
    })
    if (!name) throw new HostRefusal(404, 'The organization does not exist, or the credentials are not of it.')
    return name
  }

  /** The name of an organization; null if it does not exist. */
  async findName(organizationId: string): Promise<string | null> {
    const path = `/_apis/resourceAreas/${CORE_AREA}`
    const query = { hostId: organizationId, 'api-version': `${API_VERSION}-preview.1` }
    const area = await this.#main.read({ path, query })
    return area === null ? null : nameOf(readAs(ResourceArea, area).locationUrl)
  }

  /**
   * `path` begins after the name of the organization. Throws `HostUnavailable` and `HostRefusal`.
   */
  async request(request: AzureRequest, organization?: string): Promise<RestResponse> {
    const { preview, security, path, query, ...rest } = request
    const name = organization ?? (await this.organization())
    const version = preview === undefined ? API_VERSION : `${API_VERSION}-preview.${preview}`
    return (security ? this.#security : this.#main).request({
      ...rest,
      path: restPath`/${name}` + path,
      query: { ...query, 'api-version': security ? SECURITY_VERSION : version },
    })
  }

  /** Null if the object does not exist or may not be read. */
  async read(request: AzureRequest): Promise<unknown> {
    return orNull(this.request(request).then(({ body }) => body))
  }

  /** A page of a list that is continued by a token. Null without access to the list. */
  async readPage(request: AzureRequest, next: string | null | undefined): Promise<RawPage | null> {
    const query = { ...request.query, ...(next ? { continuationToken: next } : {}) }
    const answer = await orNull(this.request({ ...request, query }))
    if (answer === null) return null
    return { values: valuesOf(answer.body), next: answer.headers.get('x-ms-continuationtoken') || null }
  }

  /** All items of a list that is continued by a token. Null without access to the list. */
  async readList(request: AzureRequest): Promise<{ values: unknown[]; complete: boolean } | null> {
    const values: unknown[] = []
    let next: string | null = null
    for (let pages = 0; pages < WHOLE_LIST_PAGES_MAX; pages += 1) {
      const page: RawPage | null = await this.readPage(request, next)
      if (page === null) return null
      values.push(...page.values)
      next = page.next
      if (next === null) break
    }
    return { values, complete: next === null }
  }

  async readAll<Item>(request: AzureRequest, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.readList(request))?.values ?? [], parse)
  }

  /** The id of a repository's project; null if the repository cannot be read. It never changes. */
  async projectOf({ id }: Pick<HostRepository, 'id'>): Promise<string | null> {
    const known = this.#projects.get(id) ?? this.#readProject(id)
    this.#projects.set(id, known)
    if (this.#projects.size > PROJECTS_MAX) this.#projects.clear()
    const project = await known.catch(() => null)
    if (project === null) this.#projects.delete(id)
    return known
  }

  async #readProject(repositoryId: string): Promise<string | null> {
    const repository = await this.read({ path: restPath`/_apis/git/repositories/${repositoryId}` })
    return repository === null ? null : readAs(InProject, repository).project.id.toLowerCase()
  }
}

const ResourceArea = Type.Object({ locationUrl: Maybe(Text) })
const InProject = Type.Object({ project: Type.Object({ id: Text }) })
const Wrapped = Type.Object({ value: Type.Array(Type.Unknown()) })

/** Lists are wrapped in an object with their count. */
export function valuesOf(body: unknown): unknown[] {
  return Array.isArray(body) ? body : readAs(Wrapped, body).value
}

/** Older organizations have addresses of the form `https://name.visualstudio.com/`. */
function nameOf(address: string | null | undefined): string | null {
  if (!address || !URL.canParse(address)) return null
  const { hostname, pathname } = new URL(address)
  const [subdomain] = hostname.split('.') as [string]
  if (hostname.endsWith('.visualstudio.com')) return subdomain
  const [, name] = pathname.split('/')
  return name ? decodeURIComponent(name) : null
}

/** Azure DevOps answers requests without good credentials with its sign-in page. */
function isSignInPage({ status, headers }: RestResponse): boolean {
  return status === 203 || status === 302 || (headers.get('content-type') ?? '').startsWith('text/html')
}
