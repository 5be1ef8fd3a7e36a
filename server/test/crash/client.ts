import { setTimeout } from 'node:timers/promises'
import type { Json } from '../support/json.ts'

export type Access = { url: string; key: string; approver: string; organization: string; cookie: string }

export type Reply = { status: number; body: Json; bytes: Buffer }

type Sent = { method: string; body?: unknown; headers?: Record<string, string>; bytes?: Uint8Array }

const PAUSE_MS = 50
/** Crash recovery of a database on a busy machine takes seconds. */
const RETRIES_MS_MAX = 180_000
const UNAVAILABLE = 503

/** An answer that the documentation does not allow. */
export class UnexpectedReply extends Error {}

/**
 * A client that repeats a request until it is answered, as clients of a server that restarts do.
 * 503 counts as no answer.
 */
export class Client {
  readonly access: Access

  constructor(access: Access) {
    this.access = access
  }

  /** A request to /v1 with the API key. Every operation of /v1 can be repeated. */
  api(method: string, path: string, body?: unknown, key = this.access.key): Promise<Reply> {
    return untilAnswered(() => this.#send(path, { method, body, headers: { authorization: `Bearer ${key}` } }))
  }

  /** Answers a deployment, with the key that opens no gates. */
  answer(deploymentId: string, verb: string, reason: string): Promise<Reply> {
    return this.api('POST', `/v1/deployments/${deploymentId}/${verb}`, { reason }, this.access.approver)
  }

  /** A GET of the person, until it is answered. `path` is below the organization. */
  read(path: string): Promise<Reply> {
    return untilAnswered(() => this.#send(this.#pathOf(path), { method: 'GET', headers: this.#pageHeaders() }))
  }

  /**
   * A change by the person: once, because not every change can be repeated. Null without an answer.
   */
  async change(method: string, path: string, body?: unknown): Promise<Reply | null> {
    const reply = await this.#send(this.#pathOf(path), { method, body, headers: this.#pageHeaders() }).catch(() => null)
    return reply && checked(reply, path)
  }

  /** Sends a file to an upload slot. */
  put(url: string, headers: Record<string, string>, bytes: Uint8Array): Promise<Reply> {
    return untilAnswered(() => this.#send(url, { method: 'PUT', headers, bytes }))
  }

  /** A request with another credential, such as a poll token. */
  as(bearer: string, path: string): Promise<Reply> {
    return untilAnswered(() => this.#send(path, { method: 'GET', headers: { authorization: `Bearer ${bearer}` } }))
  }

  #pathOf(path: string): string {
    return `/app/api/orgs/${this.access.organization}${path}`
  }

  #pageHeaders() {
    return { cookie: this.access.cookie, origin: this.access.url, 'x-shiplock-csrf': '1' }
  }

  async #send(path: string, { method, body, headers = {}, bytes }: Sent): Promise<Reply> {
    const response = await fetch(path.startsWith('/') ? this.access.url + path : path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(bytes && { body: bytes as Uint8Array<ArrayBuffer> }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const received = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.includes('json') && received.length > 0
    return { status: response.status, bytes: received, body: isJson ? JSON.parse(received.toString()) : null }
  }
}

async function untilAnswered(send: () => Promise<Reply>): Promise<Reply> {
  const deadline = performance.now() + RETRIES_MS_MAX
  for (;;) {
    const reply = await send().catch(() => null)
    if (reply && reply.status !== UNAVAILABLE) return checked(reply, 'a request')
    if (performance.now() > deadline) throw new Error('The server did not answer.')
    await setTimeout(PAUSE_MS)
  }
}

/** A crash is no reason for a 500: what cannot be reached is a 503. */
function checked(reply: Reply, what: string): Reply {
  if (reply.status === 500) throw new UnexpectedReply(`500 to ${what}: ${reply.bytes.toString()}`)
  return reply
}
