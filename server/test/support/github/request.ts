import { HttpError, notFound } from '../hosts/http-error.ts'
import type { Answer, RestRequest } from '../hosts/rest-request.ts'
import type { Repository } from '../hosts/types.ts'
import type { Caller } from './authentication.ts'
import type { Installation } from './types.ts'
import type { GitHubWorld } from './world.ts'

/** A request to GitHub, with what most answers need of it. */
export class GitHubRequest {
  readonly world: GitHubWorld
  /** `GET /repos/{owner}/{repo}` */
  readonly operation: string
  readonly url: URL
  readonly caller: Caller
  readonly body: Record<string, unknown>
  readonly #params: Record<string, string>

  constructor(world: GitHubWorld, { operation, url, caller, body, params }: RestRequest<Caller>) {
    this.world = world
    this.operation = operation
    this.url = url
    this.caller = caller
    this.body = body ?? {}
    this.#params = params
  }

  get query(): URLSearchParams {
    return this.url.searchParams
  }

  text(name: string): string {
    return this.#params[name] as string
  }

  number(name: string): number {
    return Number(this.#params[name])
  }

  /** The installation whose token was sent. */
  get installation(): Installation {
    if (this.caller.type !== 'installation') throw new HttpError(403, 'Resource not accessible by integration')
    return this.caller.installation
  }

  /**
   * The repository of the path, if the caller may see it. Since https://developer.github.com/changes/19,
   * "The 451 status code is now supported", GitHub answers 451 for a repository that was taken down
   * for legal reasons; `blocked` can have 403, which it answers where it disabled one for others.
   */
  get repository(): Repository {
    const found = this.world.findRepository(this.text('owner'), this.text('repo'))
    if (found === undefined || !this.#maySee(found.repository)) throw notFound()
    const blocked = this.world.blocked.get(found.repository)
    if (blocked !== undefined) throw new HttpError(blocked, 'Repository access blocked')
    if (found.moved) throw this.#moved(found.repository)
    return found.repository
  }

  /** The App itself may only ask which installation a repository has. */
  #maySee(repository: Repository): boolean {
    const asksForInstallation = this.operation === 'GET /repos/{owner}/{repo}/installation'
    if (this.caller.type === 'app' && asksForInstallation) return true
    return this.installation.covers(repository)
  }

  #moved(repository: Repository): HttpError {
    const rest = this.url.pathname.split('/').slice(4)
    const location = `${[this.world.api, 'repositories', repository.id, ...rest].join('/')}${this.url.search}`
    const status = this.operation.startsWith('GET') ? 301 : 307
    return new HttpError(status, 'Moved Permanently', { location })
  }
}

export type Handler = (request: GitHubRequest) => Answer | Promise<Answer>
