import type { ClientRequest, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { explainFailure, openRequest } from '#open-request'
import { CountedContent, withLength } from '../files/put-attempt.ts'
import { borrowedChunksOf, type PutRequest } from '../files/source.ts'
import type { Answer } from '../http/error-body.ts'
import { unreachable } from '../http/errors.ts'

/**
 * Sends the file with node:http, which keeps the spelling of the headers, waits while the network
 * is slower than the disk, and receives an answer that comes before the file has been sent.
 */
export async function sendByHttp({ url, headers, source, onSent, signal }: PutRequest): Promise<Answer> {
  const request = openFor({ url, headers: withLength(headers, source.size), signal })
  const answered = new Promise<Answer>((resolve, reject) => {
    request.on('response', (response) => readAnswer(url, response).then(resolve, reject))
    request.on('error', reject)
  })
  const content = new CountedContent(borrowedChunksOf(source), onSent)
  const written = write(request, content)
  written.catch((error) => request.destroy(error))
  try {
    const answer = await answered
    // The rest of the content does not matter to a server that has refused it.
    if (answer.status < 300) await written
    return answer
  } catch (error) {
    throw content.failure ?? unreachable(url, explainFailure(request, error))
  } finally {
    if (!request.writableFinished) request.destroy()
  }
}

function openFor({ url, headers, signal }: Pick<PutRequest, 'url' | 'headers' | 'signal'>): ClientRequest {
  try {
    return openRequest(url, { method: 'PUT', headers, signal })
  } catch (error) {
    throw unreachable(url, error)
  }
}

/** Waits until the system has taken a chunk before it asks for the next one. */
async function write(request: ClientRequest, content: CountedContent): Promise<void> {
  for await (const chunk of content) {
    await new Promise<void>((resolve, reject) => {
      request.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
  }
  request.end()
}

async function readAnswer(url: string, response: IncomingMessage): Promise<Answer> {
  const { statusCode = 0, statusMessage = '', headers } = response
  const header = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : null
  }
  return { url, status: statusCode, statusText: statusMessage, header, text: await text(response) }
}
