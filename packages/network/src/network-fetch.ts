import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ReadableStream } from 'node:stream/web'
import { explainFailure, openRequest } from './open-request.ts'

/**
 * A `fetch` that knows the proxies and certificates of the environment on every version of Node.js.
 * Follows no redirects and asks for no compression. Rejects with a `ConnectionError` where the proxy
 * or the certificate is the reason.
 */
export async function networkFetch(address: string | URL, init: RequestInit = {}): Promise<Response> {
  const { signal, redirect: _, ...given } = init
  const isStream = given.body instanceof ReadableStream
  const described = new Request(address, isStream ? { ...given, body: null } : given)
  const headers = { 'accept-encoding': 'identity', ...Object.fromEntries(described.headers) }
  const content = Buffer.from(await described.arrayBuffer())
  const request = openRequest(address, { method: described.method, headers, ...(signal && { signal }) })
  const answered = new Promise<Response>((resolve, reject) => {
    request.on('response', (response) => resolve(toResponse(response, described.method)))
    request.on('error', (error) => reject(explainFailure(request, error)))
  })
  if (isStream) pipeline(Readable.fromWeb(given.body as ReadableStream), request).catch(() => {})
  else request.end(content)
  return answered
}

const BODILESS = [204, 205, 304]

function toResponse(response: IncomingMessage, method: string): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  const isEmpty = BODILESS.includes(status) || method === 'HEAD'
  if (isEmpty) response.resume()
  return new Response(isEmpty ? null : (Readable.toWeb(response) as Response['body']), { status, statusText, headers })
}
