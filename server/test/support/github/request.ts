import type { Operation } from '../hosts/description.ts'
import { HttpError, notFound } from '../hosts/http-error.ts'
import type { Caller } from './authentication.ts'
import type { State } from './state.ts'
import type { Installation, Repository } from './types.ts'
import type { World } from './webhooks/world.ts'

/** `body` is sent as JSON, `text` as it is. */
export type Answer = { status: number; body?: unknown; headers?: Record<string, string>; text?: string }

/** A request whose operation is known and whose caller is authenticated. */
export class GitHubRequest {
  readonly world: World
  readonly operation: Operation
  readonly url: URL
  readonly caller: Caller
  readonly body: Record<string, unknown>

  constructor(fields: { world: World; operation: Operation; url: URL; caller: Caller; body: unknown }) {
    this.world = fields.world
    this.operation = fields.operation
    this.url = fields.url
    this.caller = fields.caller
    this.body = (fields.body ?? {}) as Record<string, unknown>
  }

  get state(): State {
    return this.world.state
  }

  get query(): URLSearchParams {
    return this.url.searchParams
  }

  text(name: string): string {
    return this.operation.params[name] as string
  }

  number(name: string): number {
    return Number(this.operation.params[name])
  }

  /** The installation whose token was sent. */
  get installation(): Installation {
    if (this.caller.type !== 'installation') throw new HttpError(403, 'Resource not accessible by integration')
    return this.caller.installation
  }

  /** The repository of the path, if the caller may see it. */
  get repository(): Repository {
    const found = this.state.findRepository(this.text('owner'), this.text('repo'))
    if (found === undefined || !this.#maySee(found.repository)) throw notFound()
    if (found.moved) throw this.#moved(found.repository)
    return found.repository
  }

  /** The App itself may only ask which installation a repository has. */
  #maySee(repository: Repository): boolean {
    const asksForInstallation = this.operation.name === 'GET /repos/{owner}/{repo}/installation'
    if (this.caller.type === 'app' && asksForInstallation) return true
    return this.installation.covers(repository)
  }

  #moved(repository: Repository): HttpError {
    const rest = this.url.pathname.split('/').slice(4)
    const location = `${[this.world.api, 'repositories', repository.id, ...rest].join('/')}${this.url.search}`
    const status = this.operation.name.startsWith('GET') ? 301 : 307
    return new HttpError(status, 'Moved Permanently', { location })
  }
}

export type Handler = (request: GitHubRequest) => Answer | Promise<Answer>

export function ok(body: unknown, headers: Record<string, string> = {}): Answer {
  return { status: 200, body, headers }
}
