import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../server/test/support/api.ts'

/** A server with an organization, and the environment with which the program talks to it. */
export type TestServer = { api: TestApi; caller: Caller; env: Record<string, string> }

/** Starts a real server. It is stopped after the tests of this file. */
export async function startServer(options: { start?: string } = {}): Promise<TestServer> {
  const api = await startTestApi(options)
  after(() => api.close())
  const caller = await api.caller()
  const url = KNOWS_LATER_FIELDS ? api.url : await startWithoutLaterFields(api.url)
  return { api, caller, env: { SHIPLOCK_URL: url, SHIPLOCK_KEY: caller.key } }
}

const OPENAPI = new URL('../../../openapi.json', import.meta.url)
const KNOWS_LATER_FIELDS = readFileSync(OPENAPI, 'utf8').includes('"ci_instance"')

/**
 * A server that ignores the fields which this one does not know yet: the program would say so, which is
 * what `older-server.test.ts` is about. Not used, and to be removed, once the server has the fields.
 */
async function startWithoutLaterFields(target: string): Promise<string> {
  const server = http.createServer((request, response) => void forward(target, request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function forward(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = await buffer(request)
  const isAboutRuns = request.method === 'POST' && /^\/v1\/ci\/(?:runs|gates)/.test(request.url ?? '')
  const body = isAboutRuns && given.length > 0 ? withoutLaterFields(given.toString()) : given
  const { 'content-length': _, 'transfer-encoding': _encoding, ...headers } = request.headers
  const sent = http.request(target + request.url, {
    method: request.method ?? 'GET',
    headers: { ...headers, ...(body.length > 0 && { 'content-length': Buffer.byteLength(body) }) },
  })
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  sent.on('error', () => response.destroy())
  response.on('close', () => sent.destroy())
  sent.end(body)
}

function withoutLaterFields(text: string): string {
  const { ci_instance: _i, continue: _c, expect: _e, job_instance: _j, job, ...body } = JSON.parse(text)
  if (typeof job !== 'object') return JSON.stringify({ ...body, ...(job !== undefined && { job }) })
  const { key: _k, instance: _n, retries: _r, ...known } = job
  return JSON.stringify({ ...body, job: known })
}
