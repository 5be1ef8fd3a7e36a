import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { AppCredentials, CodeHost } from '../../src/codehosts/code-host.ts'
import { createGithubHost } from '../../src/codehosts/hosts/github/host.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Json } from './json.ts'

export const { privateKey: PRIVATE_KEY } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
export const TOKEN = 'ghs_token_of_the_installation'

/** A request as the server received it. */
export type Received = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Json
}

/** What a test lets GitHub answer: data, or a function that writes the response itself. */
export type Answer = { status?: number; headers?: Record<string, string>; data?: unknown } | Write
type Write = (response: ServerResponse) => void

type GithubAnswers = {
  codeHost: CodeHost
  /** The requests but those for tokens. */
  received: Received[]
  url: string
}

/**
 * A server that answers as the test says, and a code host that uses it. Tokens are given without
 * asking the test, unless it answers their requests too.
 */
export async function startGithubAnswers(
  t: TestContext,
  answer: (request: Received) => Answer | undefined,
  options: { apiPath?: string; readCredentials?: () => AppCredentials | null; timeLimitMs?: number } = {},
): Promise<GithubAnswers> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const found = await receivedOf(request)
    const given = tokenFor(found, answer(found))
    if (!found.path.endsWith('/access_tokens')) received.push(found)
    send(response, given ?? { status: 404, data: { message: 'Not Found' } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const credentials = credentialsOf({ api_url: url + (options.apiPath ?? '') })
  const codeHost = createGithubHost({
    readCredentials: async () => (options.readCredentials ? mergedWith(options.readCredentials(), url) : credentials),
    log: createLog('silent'),
    clock: systemClock,
    pace: { timeLimitMs: options.timeLimitMs ?? 10_000, waitUnitMs: 1 },
  })
  return { codeHost, received, url }
}

export function credentialsOf(fields: Partial<AppCredentials> = {}): AppCredentials {
  return { app_id: '17', private_key: PRIVATE_KEY, webhook_secrets: [], api_url: '', ...fields }
}

function mergedWith(credentials: AppCredentials | null, url: string): AppCredentials | null {
  return credentials && { ...credentials, api_url: url }
}

async function receivedOf(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://host')
  const body = text === '' ? null : JSON.parse(text)
  return { method: request.method ?? '', path: pathname, query: searchParams, headers: request.headers, body }
}

/** What a test answers to every request is no token. */
function tokenFor({ path }: Received, answered: Answer | undefined): Answer | undefined {
  const isRead = answered !== undefined && typeof answered !== 'function' && (answered.status ?? 200) < 300
  const isMeant = answered !== undefined && (!isRead || Object.hasOwn(Object(answered.data), 'token'))
  if (isMeant || !path.endsWith('/access_tokens')) return answered
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  return { status: 201, data: { token: TOKEN, expires_at, permissions: { metadata: 'read' } } }
}

function send(response: ServerResponse, answer: Answer): void {
  if (typeof answer === 'function') {
    answer(response)
    return
  }
  const { status = 200, headers = {}, data } = answer
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(data === undefined ? undefined : JSON.stringify(data))
}
