import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerViolations, requestViolations } from './check-exchange.ts'
import { type Description, matched, pathPattern } from './description.ts'
import { HttpError } from './http-error.ts'
import { type Answer, type Handler, type RestRequest, type Routes, readBody } from './rest-request.ts'
import type { Trouble } from './trouble.ts'

export type Api<Caller> = {
  /** By `GET /projects/{id}`; a part as `{path+}` may contain slashes. */
  routes: Routes<Caller>
  /** The host's published page about each of the routes. */
  pages: Readonly<Record<string, string>>
  trouble: Trouble
  violations: string[]
  /** Throws `HttpError` 401. */
  authenticate(request: Omit<RestRequest<Caller>, 'caller'>): Caller
  /** What the host answers for an error. */
  errorBody(status: number, message: string): unknown
  /** JSON as the host writes it. */
  serialize?: (value: unknown) => string
  /** Headers of every answer. */
  headers?: () => Record<string, string>
  /** The host's published description, against which everything is checked. */
  description?: Description | null
  /** Routes that the host documents, but does not describe. */
  undescribed?: readonly string[]
  /** Parts of paths that may contain slashes, besides those of `{path+}`. */
  slashed?: ReadonlySet<string>
  /** The path of a route that the path of a request stands for. */
  pathOf?: (pathname: string) => string
}

type Route<Caller> = { operation: string; method: string; pattern: RegExp; variables: number; handler: Handler<Caller> }

/** The HTTP server of a fake host, on a free port of the loopback interface. */
export class RestServer {
  readonly url: string
  /** All requests that were received: `GET /user?page=2`. */
  readonly requests: string[] = []
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Throws if the answer to an operation is nowhere documented, or the reverse. */
  serve<Caller>(api: Api<Caller>): void {
    const names = new Set(Object.keys(api.routes)).symmetricDifference(new Set(Object.keys(api.pages)))
    if (names.size > 0) throw new Error(`A route without a page, or a page without a route: ${[...names].join(', ')}`)
    const routes = Object.entries(api.routes).map(([operation, handler]): Route<Caller> => {
      const [method, template] = operation.split(' ') as [string, string]
      return {
        operation,
        method,
        handler,
        pattern: pathPattern(template, api.slashed),
        variables: template.split('{').length,
      }
    })
    routes.sort((one, other) => one.variables - other.variables)
    this.#server.on('request', (incoming, outgoing) => {
      if (api.trouble.down === 'refuse') {
        incoming.socket.destroy()
        return
      }
      this.#answer(api, routes, incoming).then(
        (answer) => send(api, incoming, outgoing, answer),
        (error) => send(api, incoming, outgoing, errorAnswer(api, error)),
      )
    })
  }

  async #answer<Caller>(api: Api<Caller>, routes: Route<Caller>[], incoming: IncomingMessage): Promise<Answer> {
    const url = new URL(incoming.url as string, this.url)
    url.pathname = api.pathOf?.(url.pathname) ?? url.pathname
    const method = incoming.method as string
    const body = await readBody(incoming)
    this.requests.push(`${method} ${url.pathname}${url.search}`)
    for (const { operation, handler, pattern, method: own } of routes) {
      const params = own === method ? matched(pattern, url.pathname) : null
      if (params === null) continue
      const { headers } = incoming
      const request = { method, url, operation, headers, params, query: url.searchParams, body }
      return await answerRoute(api, handler, request)
    }
    api.violations.push(`${method} ${url.pathname} is not known to the fake`)
    return { status: 501, body: api.errorBody(501, 'The fake does not know this operation') }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

export async function startRestServer(): Promise<RestServer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return new RestServer(server)
}

async function answerRoute<Caller>(
  api: Api<Caller>,
  handler: Handler<Caller>,
  request: Omit<RestRequest<Caller>, 'caller'>,
): Promise<Answer> {
  const { description, violations, undescribed = [] } = api
  const known = description?.findOperation(request.method, request.url.pathname) ?? null
  if (description && known === null && !undescribed.includes(request.operation))
    violations.push(`${request.operation} is not described`)
  if (description && known !== null) {
    const wrong = requestViolations(description, known, request)
    violations.push(...wrong)
    if (wrong.length > 0) return { status: 501, body: api.errorBody(501, wrong.join('; ')) }
  }
  await api.trouble.meet(request.operation)
  const whole = await handler({ ...request, caller: api.authenticate(request) })
  const answer = api.trouble.endless?.test(request.operation) ? withoutEnd(whole, request.url) : whole
  if (description && known !== null && answer.text === undefined) {
    const body = answer.body === undefined ? undefined : JSON.parse((api.serialize ?? JSON.stringify)(answer.body))
    violations.push(...answerViolations(description, known, { status: answer.status, body }))
  }
  return answer
}

/** A page that is followed by the second one, in the words of every host. */
function withoutEnd({ headers, ...answer }: Answer, { href }: URL): Answer {
  const next = new URL(href)
  next.searchParams.set('page', '2')
  const words = { link: `<${next}>; rel="next"`, 'x-next-page': '2', 'x-ms-continuationtoken': '2' }
  const isBitbucket = Object.hasOwn((answer.body ?? {}) as object, 'pagelen')
  const body = isBitbucket ? { ...(answer.body as object), next: next.href } : answer.body
  return { ...answer, body, headers: { ...headers, ...words } }
}

function errorAnswer<Caller>({ violations, errorBody }: Api<Caller>, error: unknown): Answer {
  if (!(error instanceof HttpError)) {
    violations.push(`The fake failed: ${error instanceof Error ? error.stack : error}`)
    return { status: 500, body: errorBody(500, 'Internal Server Error') }
  }
  const { status, message, headers } = error
  return { status, headers, body: errorBody(status, message) }
}

function send<Caller>(api: Api<Caller>, incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): void {
  const { serialize = JSON.stringify } = api
  const text = answer.text ?? (answer.body === undefined ? '' : serialize(answer.body))
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
  const type = answer.text === undefined ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8'
  const headers: Record<string, string> = { 'content-type': type, ...api.headers?.(), ...answer.headers }
  if (answer.status === 200) headers.etag ??= etag
  const isSame = answer.status === 200 && incoming.headers['if-none-match'] === headers.etag
  if (isSame) outgoing.writeHead(304, headers).end()
  else if (text === '') outgoing.writeHead(answer.status, headers).end()
  else if (api.trouble.takeCut()) sendHalf(outgoing, answer.status, headers, text)
  else outgoing.writeHead(answer.status, headers).end(text)
}

function sendHalf(outgoing: ServerResponse, status: number, headers: Record<string, string>, text: string): void {
  outgoing.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(text)) })
  outgoing.write(text.slice(0, text.length / 2), () => outgoing.destroy())
}
