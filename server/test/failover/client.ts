import type { Json } from '../support/json.ts'

export type Reply = { status: number; headers: Headers; body: Json }

type Slot = { url: string; method?: string; headers: Record<string, string> }

/** A client with a key that sends each request once. */
export class Client {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  /** The same server with another credential, such as a poll token. */
  withKey(key: string): Client {
    return new Client(this.#url, key)
  }

  send(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Reply> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { authorization: `Bearer ${this.#key}`, ...type, ...more }
    return exchange(this.#url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }

  /** The data of the answer to a request that must succeed. */
  async done(method: string, path: string, body?: unknown, more?: Record<string, string>): Promise<Json> {
    const reply = await this.send(method, path, body, more)
    if (!isDone(reply)) throw new Error(`${reply.status} to ${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body.data
  }

  /** Sends a file to its slot, with exactly the headers of the slot. */
  async put({ url, method = 'PUT', headers }: Slot, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const reply = await exchange(url, { method, headers, body: ReadableStream.from(bytes), duplex: 'half' })
    if (!isDone(reply)) throw new Error(`${reply.status} to PUT: ${JSON.stringify(reply.body)}`)
  }
}

async function exchange(url: string, options: RequestInit): Promise<Reply> {
  const response = await fetch(url, options)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

const isDone = ({ status }: Reply) => status >= 200 && status < 300
