import { unreachable } from '../http/errors.ts'
import { toAnswer } from '../http/json-fetch.ts'
import { CountedContent, withLength } from './put-attempt.ts'
import type { PutSender } from './source.ts'

/** Streams the file with `fetch`, outside of browsers. */
export function fetchSender(fetch: typeof globalThis.fetch): PutSender {
  return async ({ url, headers, source, onSent, signal }) => {
    const content = new CountedContent(source, onSent)
    const init = {
      method: 'PUT',
      headers: withLength(headers, source.size),
      // A stream without content would be sent with Transfer-Encoding.
      body: source.size === 0 ? '' : toStream(content),
      duplex: 'half',
      redirect: 'manual' as const,
      signal,
    }
    try {
      const response = await fetch(url, init as RequestInit)
      return toAnswer(url, response, await response.text())
    } catch (error) {
      throw content.failure ?? unreachable(url, error)
    }
  }
}

/** Not every platform has ReadableStream.from. */
function toStream(content: CountedContent): ReadableStream<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => {
      await chunks.return()
    },
  })
}
