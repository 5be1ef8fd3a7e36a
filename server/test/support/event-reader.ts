import assert from 'node:assert/strict'
import type { TestApi } from './api.ts'
import type { Person } from './people.ts'

export type StreamedEvent = { event: string; data: { type: string; id: string | null } }

/** All of a stream. Heartbeats do not extend it. */
const STREAM_MS_MAX = 60_000

/** A client that reads the event stream of a person. Reading fails after a minute. */
export class EventReader {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<string>
  readonly #aborted: AbortController
  #text = ''

  private constructor(response: Response, aborted: AbortController) {
    this.response = response
    this.#aborted = aborted
    const body = response.body ?? assert.fail('The response has no body')
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader()
  }

  static async open(api: TestApi, { org, cookie }: Person, headers: Record<string, string> = {}): Promise<EventReader> {
    const aborted = new AbortController()
    const signal = AbortSignal.any([aborted.signal, AbortSignal.timeout(STREAM_MS_MAX)])
    const response = await fetch(`${api.url}${org}/events`, { headers: { cookie, ...headers }, signal })
    return new EventReader(response, aborted)
  }

  /** The next event; null when the stream has ended. Comments are skipped. */
  async next(): Promise<StreamedEvent | null> {
    for (;;) {
      const block = await this.#nextBlock()
      if (block === null) return null
      const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
      const field = (name: string) => fields.find((each) => each?.[1] === name)?.[2]
      const data = field('data')
      if (data !== undefined) return { event: field('event') ?? 'message', data: JSON.parse(data) }
    }
  }

  /** Reads until an event of the type arrives, with the id where one is given. */
  async until(type: string, id?: string): Promise<StreamedEvent> {
    for (;;) {
      const event = (await this.next()) ?? assert.fail(`The stream ended before an event of ${type}`)
      if (event.data.type === type && (id === undefined || event.data.id === id)) return event
    }
  }

  /** Reads until the stream ends. Fails if it does not. */
  async ended(): Promise<void> {
    while ((await this.next()) !== null);
  }

  /** The next comment. */
  async comment(): Promise<string> {
    for (;;) {
      const block = (await this.#nextBlock()) ?? assert.fail('The stream ended before a comment')
      const comment = block.split('\n').find((line) => line.startsWith(':'))
      if (comment !== undefined) return comment.slice(1).trim()
    }
  }

  close(): void {
    this.#aborted.abort()
  }

  async #nextBlock(): Promise<string | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return block
      }
      const { value, done } = await this.#reader.read()
      if (done) return null
      this.#text += value
    }
  }
}
