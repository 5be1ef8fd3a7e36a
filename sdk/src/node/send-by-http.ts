import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type PutRequest, withLength } from '../files/put-sender.ts'
import { chunksOf } from '../files/source.ts'
import type { Answer } from '../http/error-body.ts'
import { unreachable } from '../http/errors.ts'

/**
 * Sends the file with node:http, which keeps the spelling of the headers, waits while the network
 * is slower than the disk, and receives an answer that comes before the file has been sent.
 */
export async function sendByHttp({ url, headers, source, onSent, signal }: PutRequest): Promise<Answer> {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest
  const request = open(url, { method: 'PUT', headers: withLength(headers, source.size), signal })
  const answered = new Promise<Answer>((resolve, reject) => {
    request.on('response', (response) => readAnswer(url, response).then(resolve, reject))
    request.on('error', (error) => reject(unreachable(url, error)))
  })
  let failure: unknown
  const sent = pipeline(
    Readable.from(
      counted({ source, onSent }, (error) => {
        failure = error
      }),
    ),
    request,
  )
  try {
    // A failed connection ends both. An early answer counts even if not everything was sent.
    const [answer] = await Promise.all([answered, Promise.race([sent.catch(() => {}), answered])])
    return answer
  } catch (error) {
    throw failure ?? error
  } finally {
    if (!request.writableFinished) request.destroy()
  }
}

async function* counted(
  { source, onSent }: Pick<PutRequest, 'source' | 'onSent'>,
  onFailure: (error: unknown) => void,
) {
  let sentBytes = 0
  try {
    for await (const chunk of chunksOf(source)) {
      yield chunk
      sentBytes += chunk.byteLength
      onSent(sentBytes)
    }
  } catch (error) {
    onFailure(error)
    throw error
  }
}

async function readAnswer(url: string, response: IncomingMessage): Promise<Answer> {
  const { statusCode = 0, statusMessage = '', headers } = response
  const header = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : null
  }
  return { url, status: statusCode, statusText: statusMessage, header, text: await text(response) }
}
