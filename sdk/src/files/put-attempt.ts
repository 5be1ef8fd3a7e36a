/** The headers with a Content-Length. Object stores refuse uploads without one. */
export function withLength(headers: Record<string, string>, size: number): Record<string, string> {
  const hasLength = Object.keys(headers).some((name) => name.toLowerCase() === 'content-length')
  return hasLength ? headers : { ...headers, 'Content-Length': String(size) }
}

/** Counts what is sent in one attempt, and keeps the error of reading the source. */
export class CountedContent implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncIterable<Uint8Array>
  readonly #onSent: (bytes: number) => void
  /** The error of reading the source, which must not be taken for one of the network. */
  failure: unknown

  constructor(chunks: AsyncIterable<Uint8Array>, onSent: (bytes: number) => void) {
    this.#chunks = chunks
    this.#onSent = onSent
  }

  /** Yields the chunks and reports them when the next one is asked for. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let sentBytes = 0
    try {
      for await (const chunk of this.#chunks) {
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
