import { oneLine } from '@shiplock/command-line/printable'
import { ApiError } from '../platform/http/api-error.ts'

/** Error codes of sockets and of our client which mean that the database is unreachable. */
const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
]

/**
 * Describes an error in one line, without a stack. An AggregateError of Node has no message of its
 * own. A 503 tells the operator its cause, which it hides from callers of the API.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof ApiError && error.status === 503) return describeFailure(error.cause)
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0])
  const text = oneLine((error instanceof Error ? error.message || error.name : String(error)).trim())
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return UNREACHABLE.includes(code) ? `The database cannot be reached (${text}); check DATABASE_URL` : text
}
