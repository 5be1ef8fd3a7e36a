import { ApiError } from '../platform/http/errors.ts'

/** Codes of sockets and of postgres.js that mean the database is not there. */
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
 * One line for the user, without a stack. Node's errors for several addresses at once have no message of their own, and
 * of what is unavailable a caller of the API is told less than the one who runs it needs.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof ApiError && error.status === 503) return describeFailure(error.cause)
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0])
  const text = oneLine(error instanceof Error ? error.message || error.name : String(error))
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return UNREACHABLE.includes(code) ? `The database cannot be reached (${text}); check DATABASE_URL` : text
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ')
}
