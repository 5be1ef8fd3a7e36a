import { chunksOf, type Source } from './source.ts'

/** The headers with a Content-Length. Object stores refuse uploads without one. */
export function withLength(headers: Record<string, string>, size: number): Record<string, string> {
  const hasLength = Object.keys(headers).some((name) => name.toLowerCase() === 'content-length')
  return hasLength ? headers : { ...headers, 'Content-Length': String(size) }
}

/** The content of a source for one attempt to send it. */
export class CountedContent implements AsyncIterable<Uint8Array> {
  readonly #source: Source
  readonly #onSent: (bytes: number) => void
  /** The error of reading the source, which must not be taken for one of the network. */
  failure: unknown

  constructor(source: Source, onSent: (bytes: number) => void) {
    this.#source = source
    this.#onSent = onSent
  }

  /** Yields the content and reports what has been taken from it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let sentBytes = 0
    try {
      for await (const chunk of chunksOf(this.#source)) {
        yield chunk
        sentBytes += chunk.byteLength
        this.#onSent(sentBytes)
      }
    } catch (error) {
      this.failure = error
      throw error
    }
  }
}
