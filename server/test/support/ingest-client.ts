import { createHash } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Json } from './json.ts'

const TRIES_MAX = 6
const FIRST_PAUSE_MS = 2_000
const PAUSE_MS_MAX = 20_000
const CALL_MS_MAX = 30_000
const PUT_TRIES_MAX = 2
const PUT_MS_MAX = 10 * 60_000
const RETRIED_STATUSES = [429, 500, 502, 503, 504]

/** A response, or null if none arrived. */
export type IngestAnswer = { status: number; headers: IncomingMessage['headers']; body: Json; text: string }
type Received = IngestAnswer | null

export type IngestSlot = {
  artifactId: string
  path: string
  url: string
  method: string
  headers: Record<string, string>
}

type IngestClientOptions = {
  url: string
  provider: string
  /** Asked for each try. */
  token(): Promise<string> | string
  /** What happens in a pause before the next try. Nothing, unless a test says otherwise. */
  pause?(ms: number): Promise<unknown> | unknown
}

/**
 * A client of the ingest routes, written from the description of the protocol alone. It sends the
 * report of a job, streams the files without announcing their length, and completes them.
 */
export class IngestClient {
  /** The pauses so far, in milliseconds. */
  readonly pauses: number[] = []
  /** Files that were sent again, because the first time failed. */
  putsRepeated = 0
  readonly #options: IngestClientOptions

  constructor(options: IngestClientOptions) {
    this.#options = options
  }

  /** Sends a report with its files. Returns the last answer, and the results of the files. */
  async send(fields: Record<string, unknown> = {}, files: Record<string, string | Buffer> = {}) {
    const artifacts = Object.entries(files).map(([path, content]) => describeFile(path, content))
    const body = { version: 1, job: JOB, name: 'default', summary: null, attestations: [], artifacts, ...fields }
    const report = await this.call('reports', body)
    if (report.status !== 200) return { report, results: [] }
    const uploads: IngestSlot[] = report.body.uploads
    for (const slot of uploads) await this.put(slot, Buffer.from(files[slot.path] ?? ''))
    if (uploads.length === 0) return { report, results: [] }
    const completed = await this.complete(
      report.body.reportId,
      uploads.map(({ artifactId }) => artifactId),
    )
    return { report, results: completed.body.results as Json[] }
  }

  complete(reportId: string, artifactIds: string[]): Promise<IngestAnswer> {
    return this.call(`reports/${reportId}/complete`, { artifactIds })
  }

  /** One JSON call with its retries. */
  async call(path: string, body: unknown): Promise<IngestAnswer> {
    const { url, provider } = this.#options
    for (let tried = 1; ; tried += 1) {
      const answer = await this.#try(`${url}/api/ingest/${provider}/${path}`, body)
      if (!isRetried(answer) || tried === TRIES_MAX) return answer ?? unreachable()
      await this.#pause(answer, tried)
    }
  }

  async #try(url: string, body: unknown): Promise<Received> {
    const headers = {
      authorization: `Bearer ${await this.#options.token()}`,
      'content-type': 'application/json',
    }
    return exchange(url, { method: 'POST', headers, timeoutMs: CALL_MS_MAX }, [JSON.stringify(body)])
  }

  async #pause(answer: Received, tried: number): Promise<void> {
    const told = Number(answer?.headers['retry-after'])
    const ms = told > 0 ? told * 1000 : Math.min(FIRST_PAUSE_MS * 2 ** (tried - 1), PAUSE_MS_MAX)
    this.pauses.push(ms)
    await this.#options.pause?.(ms)
  }

  /**
   * Streams a file with exactly the headers of its slot. Without a length among them, it is
   * chunked.
   */
  async put({ url, method, headers }: IngestSlot, content: Buffer): Promise<IngestAnswer> {
    for (let tried = 1; ; tried += 1) {
      const answer = await exchange(url, { method, headers, timeoutMs: PUT_MS_MAX }, chunksOf(content))
      const isFailed = answer === null || answer.status >= 500
      if (!isFailed || tried === PUT_TRIES_MAX) return answer ?? unreachable()
      this.putsRepeated += 1
    }
  }
}

/** A job with a field that no server knows, and with nulls where the protocol allows them. */
const JOB = { name: 'test', matrix: null, runner: null, fieldOfTheNextVersion: { any: ['thing'] } }

export function describeFile(path: string, content: string | Buffer) {
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { path, size: Buffer.byteLength(content), sha256, contentType: 'application/octet-stream', next: null }
}

function isRetried(answer: Received): boolean {
  return answer === null || RETRIED_STATUSES.includes(answer.status) || answer.body?.retryable === true
}

type Sending = { method: string; headers: Record<string, string>; timeoutMs: number }

/** Sends a body piece by piece. Returns null when the connection fails. */
async function exchange(url: string, { method, headers, timeoutMs }: Sending, body: Iterable<string | Buffer>) {
  try {
    const outgoing = request(url, { method, headers, signal: AbortSignal.timeout(timeoutMs) })
    const arrived = new Promise<IncomingMessage>((resolve, reject) =>
      outgoing.on('response', resolve).on('error', reject),
    )
    Readable.from(body).pipe(outgoing)
    const response = await arrived
    const received = await text(response)
    const isJson = response.headers['content-type']?.includes('json') && received !== ''
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: received,
      body: isJson ? JSON.parse(received) : undefined,
    }
  } catch {
    return null
  }
}

const CHUNK_BYTES = 64 * 1024

function* chunksOf(content: Buffer): Iterable<Buffer> {
  for (let at = 0; at < content.length; at += CHUNK_BYTES) yield content.subarray(at, at + CHUNK_BYTES)
}

function unreachable(): never {
  throw new Error('The server could not be reached.')
}
