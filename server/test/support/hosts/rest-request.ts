import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

// biome-ignore lint/suspicious/noExplicitAny: fakes read bodies as they like; descriptions check them
type Json = any

/** `body` is sent as JSON, `text` as it is. */
export type Answer = { status: number; body?: unknown; headers?: Record<string, string>; text?: string }

/** A request to a fake. `Caller`: what the host's credentials stand for. */
export type RestRequest<Caller> = {
  method: string
  url: URL
  /** The route: `GET /projects/{id}`. */
  operation: string
  headers: IncomingHttpHeaders
  params: Record<string, string>
  query: URLSearchParams
  /** Parsed JSON, the fields of a form, or bytes as a text; undefined for none. */
  body: Json
  caller: Caller
}

export type Handler<Caller> = (request: RestRequest<Caller>) => Answer | Promise<Answer>
export type Routes<Caller> = Record<string, Handler<Caller>>

export function ok(body: unknown, headers: Record<string, string> = {}): Answer {
  return { status: 200, body, headers }
}

export function created(body: unknown): Answer {
  return { status: 201, body }
}

export function noContent(): Answer {
  return { status: 204 }
}

export async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  if (text === '') return undefined
  if (incoming.headers['content-type'] === 'application/octet-stream') return text
  const isForm = incoming.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text)
}
