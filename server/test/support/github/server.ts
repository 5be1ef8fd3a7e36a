import { createHash } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { answerViolations, requestViolations } from '../hosts/check-exchange.ts'
import type { Operation } from '../hosts/description.ts'
import { HttpError } from '../hosts/http-error.ts'
import type { Authentication, Caller } from './authentication.ts'
import { findOperation, restDescription } from './description.ts'
import { answerGraphql } from './graphql/answer.ts'
import { type Answer, GitHubRequest, type Handler } from './request.ts'
import { fullName } from './state.ts'
import type { GitHubTrouble } from './trouble.ts'
import { githubJson, type World } from './webhooks/world.ts'

export type Parts = {
  world: World
  trouble: GitHubTrouble
  authentication: Authentication
  handlers: Record<string, Handler>
  /** The path below which the API is, such as `/api/v3`; empty for none. */
  basePath: string
  graphql: { enabled: boolean }
  /** All requests that were received: `GET /app`. */
  requests: string[]
}

/** Answers every request that reaches the fake. */
export function requestListener(parts: Parts): RequestListener {
  return (incoming, outgoing) => {
    if (parts.trouble.down === 'refuse') {
      incoming.socket.destroy()
      return
    }
    answerRequest(parts, incoming).then(
      (answer) => send(parts, incoming, outgoing, answer),
      (error) => send(parts, incoming, outgoing, errorAnswer(parts, error)),
    )
  }
}

async function answerRequest(parts: Parts, incoming: IncomingMessage): Promise<Answer> {
  const url = new URL(incoming.url as string, 'http://fake')
  const body = await readBody(incoming)
  const path = apiPath(parts, url.pathname)
  parts.requests.push(`${incoming.method} ${path}${url.search}`)
  if (path.startsWith('/_logs/')) return readLog(parts, path)
  if (path === '/graphql') return graphqlAnswer(parts, incoming, body)
  const operation = findOperation(incoming.method as string, path)
  const handler = operation === null ? undefined : parts.handlers[operation.name]
  if (operation === null || handler === undefined) {
    parts.world.violations.push(`${incoming.method} ${path} is not described`)
    return { status: 501, body: { message: 'The fake does not know this operation' } }
  }
  return await answerOperation(parts, incoming, {
    operation,
    handler,
    url: new URL(`${path}${url.search}`, 'http://fake'),
    body,
  })
}

async function answerOperation(
  parts: Parts,
  incoming: IncomingMessage,
  known: { operation: Operation; handler: Handler; url: URL; body: unknown },
): Promise<Answer> {
  const { world } = parts
  const { operation, handler, url, body } = known
  if (world.checked) {
    const wrong = requestViolations(restDescription(), operation, { query: url.searchParams, body })
    world.violations.push(...wrong)
    if (wrong.length > 0) return { status: 501, body: { message: wrong.join('; ') } }
  }
  await parts.trouble.meet(operation.name)
  const caller = callerOf(parts, incoming, operation)
  const answer = await handler(new GitHubRequest({ world, operation, url, caller, body }))
  if (world.checked) checkAnswer(parts, operation, answer)
  return answer
}

function callerOf({ authentication }: Parts, incoming: IncomingMessage, operation: Operation): Caller {
  const caller = authentication.callerOf(incoming.headers.authorization)
  const isOpen = operation.name.startsWith('POST /app-manifests/')
  if (caller.type === 'nobody' && !isOpen) throw new HttpError(401, 'Requires authentication')
  return caller
}

function checkAnswer({ world }: Parts, operation: Operation, answer: Answer): void {
  const body = answer.body === undefined ? undefined : JSON.parse(githubJson(answer.body))
  world.violations.push(...answerViolations(restDescription(), operation, { status: answer.status, body }))
}

/**
 * The path below that of the API. GitHub redirects to `/repositories/{id}`, which stands for
 * `/repos/{owner}/{repo}`.
 */
function apiPath({ world, basePath }: Parts, pathname: string): string {
  const isBelow = pathname.startsWith(`${basePath}/`)
  const path = isBelow ? pathname.slice(basePath.length) : pathname === '/api/graphql' ? '/graphql' : pathname
  const [, id, rest] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? []
  if (id === undefined) return path
  const repository = world.state.repositoryOfId(Number(id))
  return `/repos/${repository === undefined ? '-/-' : fullName(repository)}${rest ?? ''}`
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return text === '' ? undefined : JSON.parse(text)
}

function readLog({ world }: Parts, path: string): Answer {
  const [, , repositoryId, jobId] = path.split('/')
  const repository = world.state.repositoryOfId(Number(repositoryId))
  const jobs = (repository?.runs ?? []).flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.jobs))
  const log = jobs.find(({ id }) => id === Number(jobId))?.log
  if (log === undefined || log === null) throw new HttpError(404, 'Not Found')
  return { status: 200, text: log, headers: { 'content-type': 'text/plain; charset=utf-8' } }
}

async function graphqlAnswer(parts: Parts, incoming: IncomingMessage, body: unknown): Promise<Answer> {
  if (!parts.graphql.enabled) return { status: 501, body: { message: 'GraphQL is switched off' } }
  await parts.trouble.meet('POST /graphql')
  const caller = parts.authentication.callerOf(incoming.headers.authorization)
  if (caller.type !== 'installation') throw new HttpError(401, 'Requires authentication')
  return { status: 200, body: answerGraphql(parts.world, caller.installation, body as never) }
}

function errorAnswer({ world }: Parts, error: unknown): Answer {
  if (!(error instanceof HttpError)) {
    world.violations.push(`The fake failed: ${error instanceof Error ? error.stack : error}`)
    return { status: 500, body: { message: 'Server Error' } }
  }
  const { status, message, headers } = error
  return {
    status,
    headers,
    body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  }
}

function send(parts: Parts, incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): void {
  const text = answer.text ?? (answer.body === undefined ? '' : githubJson(answer.body))
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-github-request-id': 'FA4E:0000',
    ...parts.trouble.headers(),
    ...answer.headers,
  }
  if (answer.status === 200) headers.etag = etag
  const isSame = answer.status === 200 && incoming.headers['if-none-match'] === etag
  if (isSame) outgoing.writeHead(304, headers).end()
  else if (text === '') outgoing.writeHead(answer.status, headers).end()
  else if (parts.trouble.takeCut()) sendHalf(outgoing, answer.status, headers, text)
  else outgoing.writeHead(answer.status, headers).end(text)
}

function sendHalf(outgoing: ServerResponse, status: number, headers: Record<string, string>, text: string): void {
  outgoing.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(text)) })
  outgoing.write(text.slice(0, text.length / 2), () => outgoing.destroy())
}
