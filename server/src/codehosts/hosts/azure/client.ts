import { type Static, Type } from 'typebox'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import { HostRefusal, HostUnavailable } from '../../code-host.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import type { Pace } from '../../kit/api-fetch.ts'
import type { CredentialSession } from '../../kit/credential-session.ts'
import { PageWalk } from '../../kit/page-walk.ts'
import type { RawPage, WholeList } from '../../kit/pages.ts'
import { AnswerParser, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath, RestClient, type RestRequest, type RestResponse } from '../../kit/rest-client.ts'
import { acceptRefusal, CredentialsRefused } from '../../kit/rest-error.ts'

/** The addresses of the APIs of Azure DevOps. */
type AzureUrls = {
  /** `https://dev.azure.com`, without a slash at its end. */
  main: string
  /** The API of Advanced Security. */
  security: string
  /** Microsoft Entra, which issues tokens for service principals. */
  entra: string
}

const SERVICES_URL = 'https://dev.azure.com'
const SECURITY_URL = 'https://advsec.dev.azure.com'

/** With another address than that of Azure DevOps Services, all APIs are under this one. */
export function parseUrls(url: string, entraUrl: string): AzureUrls {
  const main = withoutSlash(url)
  return { main, security: main === SERVICES_URL ? SECURITY_URL : main, entra: withoutSlash(entraUrl) }
}

function withoutSlash(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '')
}

/** A GUID, in any case. */
export const Guid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })

/** Times have up to seven digits after the second, and some no zone. */
export const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d' })

/** Null for a time that is missing; the year 1 stands for none. */
export function parseTime(time: string | null | undefined): Date | null {
  if (!time || time.startsWith('0001-')) return null
  const at = new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`)
  return Number.isNaN(at.getTime()) ? null : at
}

/** The latest of the times that are known. */
export function selectLatest(times: (Date | null)[], otherwise: Date): Date {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? otherwise : new Date(Math.max(...known.map((time) => time.getTime())))
}

const NO_COMMIT = /^0+$/

/** Zeros stand for no commit. */
export function parseSha(sha: string | null | undefined): string | null {
  return !sha || NO_COMMIT.test(sha) ? null : sha
}

/** A person, a group, a service principal or a service of Azure DevOps. */
export const Identity = Type.Object({
  id: Maybe(Text),
  displayName: Maybe(Text),
  uniqueName: Maybe(Text),
  descriptor: Maybe(Text),
  imageUrl: Maybe(Text),
  isContainer: Maybe(Type.Boolean()),
  _links: Maybe(Type.Object({ avatar: Maybe(Type.Object({ href: Maybe(Text) })) })),
})

type IdentityObject = Static<typeof Identity>

/** The kinds of identities in a descriptor: build services, service principals, Azure DevOps. */
const BOT = /^(?:svc|aadsp|s2s)\./
/** Azure DevOps itself, which starts scheduled builds. */
const SYSTEM = /^0000000[0-9a-f]-0000-8888-8000-000000000000$/

/** Null for an identity that has neither an id nor a name. */
export function parseAccount(identity: IdentityObject | null | undefined): HostAccount | null {
  const id = parseText(identity?.id)?.toLowerCase()
  const login = identity ? parseLogin(identity) : null
  if (!identity || !id || login === null) return null
  return {
    id,
    login,
    name: parseText(identity.displayName),
    avatar_url: parseText(identity._links?.avatar?.href) ?? parseText(identity.imageUrl),
    url: null,
    is_bot: BOT.test(identity.descriptor ?? '') || SYSTEM.test(id) || /^build\\/i.test(identity.uniqueName ?? ''),
  }
}

/**
 * The address that people sign in with. Services and groups have a name of the form `scope\id`, so
 * their display name is used.
 */
export function parseLogin({ uniqueName, displayName }: IdentityObject): string | null {
  const unique = parseText(uniqueName)
  const display = parseText(displayName)
  return unique === null || unique.includes('\\') ? (display ?? unique) : unique
}

/** Azure DevOps has no versions of lists. A version that never fits tells a list from a refusal. */
export const LISTED = 'listed'

/** The version of the API that answers are read in. Some parts exist as a preview only. */
const API_VERSION = '7.1'
/** Advanced Security exists as a preview only. */
const SECURITY_VERSION = '7.2-preview.1'
/** The area `core`, by which the address of an organization is found from its id. */
const CORE_AREA = '79134c72-4a58-4b42-976c-04e7115f32bf'
/** An organization can be renamed. */
const NAME_AGE_MS_MAX = 10 * 60_000
/** What is not found may be under another name, which is looked up this seldom. */
const NAME_CHECKED_MS_MIN = 60_000
const PROJECTS_MAX = 10_000
const WHOLE_LIST_PAGES_MAX = 20

type AzureApiOptions = {
  urls: AzureUrls
  session: CredentialSession
  /** The id of the connected organization. */
  organizationId: string
  /** The id of the connection; null before there is one. */
  connectionId: string | null
  pace: Pace
  log: Log
  clock: Clock
}

/** `preview`: the number of the preview, for parts of the API that exist as a preview only. */
type AzureRequest = RestRequest & { preview?: number; security?: boolean }

/** Requests to one organization of Azure DevOps. */
export class AzureApi extends AnswerParser {
  readonly options: AzureApiOptions
  readonly #main: RestClient
  readonly #security: RestClient
  readonly #projects = new Map<string, Promise<string | null>>()
  #name: { value: Promise<string | null>; readAt: number } | null = null
  #checkedAt = 0

  constructor(options: AzureApiOptions) {
    super('Azure DevOps', options.log)
    this.options = options
    const { urls, session, pace, clock } = options
    const authorize = (renew: boolean) => session.authorize(renew)
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
    if (isOld) this.#name = { value: this.fetchName(this.options.organizationId), readAt: now }
    const name = await this.#name?.value.catch((error) => {
      this.#name = null
      throw error
    })
    if (!name) throw new HostRefusal(404, 'The organization does not exist, or the credentials are not of it.')
    return name
  }

  /** The name of an organization; null if it does not exist. */
  async fetchName(organizationId: string): Promise<string | null> {
    const path = `/_apis/resourceAreas/${CORE_AREA}`
    const query = { hostId: organizationId, 'api-version': `${API_VERSION}-preview.1` }
    const area = await this.#main.read({ path, query })
    return area === null ? null : parseOrganizationName(readAs(ResourceArea, area).locationUrl)
  }

  /**
   * `path` begins after the name of the organization. Throws `HostUnavailable` and `HostRefusal`.
   */
  async request(request: AzureRequest, organization?: string): Promise<RestResponse> {
    if (organization !== undefined) return this.#send(request, organization)
    const name = await this.organization()
    try {
      return await this.#send(request, name)
    } catch (error) {
      const renamed = await this.#findNewName(name, error)
      if (renamed === null) throw error
      return this.#send(request, renamed)
    }
  }

  async #send({ preview, security, path, query, ...rest }: AzureRequest, name: string): Promise<RestResponse> {
    const version = preview === undefined ? API_VERSION : `${API_VERSION}-preview.${preview}`
    const answer = await (security ? this.#security : this.#main).request({
      ...rest,
      path: encodePath`/${name}` + path,
      query: { ...query, 'api-version': security ? SECURITY_VERSION : version },
    })
    const isPage = answer.headers.get('content-type')?.startsWith('text/html')
    // It says, for example, that the service is down.
    if (isPage) throw new HostUnavailable('Azure DevOps answered with a page instead of JSON.')
    return answer
  }

  /**
   * The present name of the organization, if it is another one: under its former name, its requests
   * are answered with the sign-in page, or with 404. Null if the error has another cause.
   */
  async #findNewName(name: string, error: unknown): Promise<string | null> {
    const isMissing = error instanceof HostRefusal && error.status === 404
    const now = this.now().getTime()
    if (isMissing && now - this.#checkedAt < NAME_CHECKED_MS_MIN) return null
    if (!isMissing && !(error instanceof CredentialsRefused)) return null
    this.#checkedAt = now
    this.#name = null
    const present = await this.organization().catch(() => name)
    return present === name ? null : present
  }

  /** Null if the object does not exist or may not be read. */
  async fetch(request: AzureRequest): Promise<unknown> {
    return acceptRefusal(this.request(request).then(({ body }) => body))
  }

  /** A page of a list that is continued by a token. Null without access to the list. */
  async fetchPage(request: AzureRequest, next: string | null | undefined): Promise<RawPage | null> {
    const query = { ...request.query, ...(next ? { continuationToken: next } : {}) }
    const answer = await acceptRefusal(this.request({ ...request, query }))
    if (answer === null) return null
    return { values: parseValues(answer.body), next: answer.headers.get('x-ms-continuationtoken') || null }
  }

  /** All items of a list that is continued by a token. Null without access to the list. */
  async fetchList(request: AzureRequest): Promise<WholeList | null> {
    const values: unknown[] = []
    const walk = new PageWalk(request.path)
    let next: string | null = null
    for (let pages = 0; pages < WHOLE_LIST_PAGES_MAX; pages += 1) {
      const from: string | null = next
      const page: RawPage | null = await walk.read(() => this.fetchPage(request, from))
      if (page === null) return null
      values.push(...page.values)
      next = page.next
      if (next === null) break
    }
    return { values, complete: next === null }
  }

  async fetchAll<Item>(request: AzureRequest, parse: (value: unknown) => Item | null): Promise<Item[]> {
    return this.parseItems((await this.fetchList(request))?.values ?? [], parse)
  }

  /** The id of a repository's project; null if the repository cannot be read. It never changes. */
  async fetchProject({ id }: Pick<HostRepository, 'id'>): Promise<string | null> {
    const fetched = this.#projects.get(id) ?? this.#fetchProjectId(id)
    this.#projects.set(id, fetched)
    if (this.#projects.size > PROJECTS_MAX) this.#projects.clear()
    const project = await fetched.catch(() => null)
    if (project === null) this.#projects.delete(id)
    return fetched
  }

  /** The path of a repository below that of its project; null if the repository cannot be read. */
  async fetchRepositoryPath({ id }: Pick<HostRepository, 'id'>): Promise<string | null> {
    const project = await this.fetchProject({ id })
    return project && encodePath`/${project}/_apis/git/repositories/${id}`
  }

  async #fetchProjectId(repositoryId: string): Promise<string | null> {
    const repository = await this.fetch({ path: encodePath`/_apis/git/repositories/${repositoryId}` })
    return repository === null ? null : readAs(InProject, repository).project.id.toLowerCase()
  }
}

const ResourceArea = Type.Object({ locationUrl: Maybe(Text) })
const InProject = Type.Object({ project: Type.Object({ id: Text }) })
const Wrapped = Type.Object({ value: Type.Array(Type.Unknown()) })

/** Lists are wrapped in an object with their count. */
export function parseValues(body: unknown): unknown[] {
  return Array.isArray(body) ? body : readAs(Wrapped, body).value
}

/** Older organizations have addresses of the form `https://name.visualstudio.com/`. */
function parseOrganizationName(address: string | null | undefined): string | null {
  if (!address || !URL.canParse(address)) return null
  const { hostname, pathname } = new URL(address)
  const [subdomain] = hostname.split('.') as [string]
  if (hostname.endsWith('.visualstudio.com')) return subdomain
  const [, name] = pathname.split('/')
  return name ? decodeURIComponent(name) : null
}

/** The host and the path of the pages at which people sign in. */
const SIGN_IN = /^(?:https:\/\/login\.microsoftonline\.com\/|https?:\/\/[^/?#]+\/_signin(?:[/?#]|$))/i

/**
 * Whether Azure DevOps does not accept the credentials: it answers with its sign-in page (203), or
 * leads to it. Other pages and redirects say nothing about credentials.
 */
export function isSignInPage({ status, headers }: Pick<RestResponse, 'status' | 'headers'>): boolean {
  return status === 203 || (status === 302 && SIGN_IN.test(headers.get('location') ?? ''))
}
