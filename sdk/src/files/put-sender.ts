import type { Answer } from '../http/error-body.ts'
import type { Source } from './source.ts'

/** One attempt to send a file. */
export type PutRequest = {
  url: string
  /** Sent exactly as they are. */
  headers: Record<string, string>
  source: Source
  /** Called with the number of bytes that have been handed over to the network. */
  onSent(bytes: number): void
  signal: AbortSignal
}

/** Sends a file and returns the answer, whatever its status. Throws if no answer comes. */
export type PutSender = (request: PutRequest) => Promise<Answer>

/** The headers with a Content-Length. Object stores refuse uploads without one. */
export function withLength(headers: Record<string, string>, size: number): Record<string, string> {
  const hasLength = Object.keys(headers).some((name) => name.toLowerCase() === 'content-length')
  return hasLength ? headers : { ...headers, 'Content-Length': String(size) }
}
