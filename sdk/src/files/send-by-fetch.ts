import { unreachable } from '../http/errors.ts'
import { toAnswer } from '../http/json-fetch.ts'
import { type PutRequest, type PutSender, withLength } from './put-sender.ts'
import { chunksOf } from './source.ts'

/** Streams the file with `fetch`, outside of browsers. */
export function fetchSender(fetch: typeof globalThis.fetch): PutSender {
  return async ({ url, headers, source, onSent, signal }) => {
    const upload = countedStream({ source, onSent })
    const init = {
      method: 'PUT',
      headers: withLength(headers, source.size),
      // A stream without content would be sent with Transfer-Encoding.
      body: source.size === 0 ? '' : upload.stream,
      duplex: 'half',
      redirect: 'manual' as const,
      signal,
    }
    try {
      const response = await fetch(url, init as RequestInit)
      return toAnswer(url, response, await response.text())
    } catch (error) {
      throw upload.failure() ?? unreachable(url, error)
    }
  }
}

/** The content as a stream that counts what is taken from it and keeps the error of reading it. */
function countedStream({ source, onSent }: Pick<PutRequest, 'source' | 'onSent'>) {
  const chunks = chunksOf(source)
  let sentBytes = 0
  let failure: unknown
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await chunks.next()
        if (done) return controller.close()
        controller.enqueue(value)
        sentBytes += value.byteLength
        onSent(sentBytes)
      } catch (error) {
        failure = error
        controller.error(error)
      }
    },
    cancel: async () => {
      await chunks.return()
    },
  })
  return { stream, failure: () => failure }
}
