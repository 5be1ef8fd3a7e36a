import type { networkFetch } from '#fetch'
import { unreachable } from '../http/errors.ts'
import { toAnswer } from '../http/json-fetch.ts'
import { CountedContent, withLength } from './put-attempt.ts'
import { chunksOf, type PutSender, toBlob } from './source.ts'

/** Deno does not send the Content-Length of a stream. */
const isDeno = 'Deno' in globalThis

/** Sends the file with `fetch`, outside of browsers: as a stream, if the platform can. */
export function fetchSender(fetch: typeof networkFetch): PutSender {
  return async ({ url, headers, source, onSent, signal }) => {
    const content = new CountedContent(chunksOf(source), onSent)
    const chunks = content[Symbol.asyncIterator]()
    // An empty stream would be sent with Transfer-Encoding.
    const body = isDeno || source.size === 0 ? await toBlob(source) : toStream(chunks)
    const put = { method: 'PUT', headers: withLength(headers, source.size), body, redirect: 'manual', signal } as const
    try {
      const response = await fetch(url, { ...put, duplex: 'half' } as RequestInit)
      return toAnswer(url, response, await response.text())
    } catch (error) {
      throw content.failure ?? unreachable(url, error)
    } finally {
      // Closes the file if the request ended early. Not awaited, because a read may never end.
      chunks.return().catch(() => {})
    }
  }
}

/** Reads nothing before it is asked to. Not every platform has ReadableStream.from. */
function toStream(chunks: AsyncGenerator<Uint8Array, void, undefined>): ReadableStream<Uint8Array> {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next()
    if (done) controller.close()
    else controller.enqueue(value)
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}
