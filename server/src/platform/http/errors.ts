import { type ApiError, defineError } from './api-error.ts'

/** `path` is a JSON pointer (RFC 6901) into the request that starts with body, query or path. */
export type FieldError = { path: string; message: string }

export const invalidRequest = defineError({
  status: 400,
  code: 'invalid_request',
  cause:
    'A field or parameter is not valid. `details.errors` lists `{path, message}`; `path` is a JSON pointer that starts ' +
    'with `/body`, `/query` or `/path`.',
  remedy: 'Fix the listed fields.',
})

export function createInvalidFieldsError(errors: FieldError[]): ApiError {
  const first = errors[0]
  return invalidRequest(first ? `${first.path}: ${first.message}` : 'The request is not valid.', { errors })
}

export function createInvalidFieldError(path: string, message: string): ApiError {
  return createInvalidFieldsError([{ path, message }])
}

/** Escapes `~` and `/` (RFC 6901 §3). */
export function encodePointerToken(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** A text that is not an id of `what`, where ids are UUIDs. */
export function createInvalidIdError(id: string, what: string): ApiError {
  return invalidRequest(`"${id.slice(0, 80)}" is not a ${what} id (a UUID)`)
}

export const invalidJson = defineError({
  status: 400,
  code: 'invalid_json',
  cause: 'The body is not JSON in UTF-8.',
  remedy: 'Fix the body.',
})

export const invalidCursor = defineError({
  status: 400,
  code: 'invalid_cursor',
  cause: 'The cursor is malformed, older than 24 hours, or belongs to another list, window or filter.',
  remedy: 'Start again at page 1.',
  message: 'The cursor is malformed, expired, or belongs to another list. Start at the first page.',
})

/** For what `createNotFoundError` does not describe: several objects, or one named otherwise. */
export const missing = defineError({
  status: 404,
  code: 'not_found',
  cause: 'The organization has no such object within its data retention.',
  remedy: 'Check the id.',
})

export function createNotFoundError(what: string): ApiError {
  return missing(`The ${what} does not exist.`)
}

export const methodNotAllowed = defineError({
  status: 405,
  code: 'method_not_allowed',
  cause: 'The path does not support the method.',
  remedy: 'Use a method from the `Allow` header.',
  message: (method: string) => `This path does not support ${method}. Use a method that the Allow header lists.`,
})

export const requestTooSlow = defineError({
  status: 408,
  code: 'invalid_request',
  cause: 'The request arrived too slowly.',
  remedy: 'Send the request again, faster.',
})

export const lengthRequired = defineError({
  status: 411,
  code: 'length_required',
  cause: 'A PUT request has no `Content-Length` and is not chunked.',
  remedy: 'Send the header.',
  message: 'Send the header Content-Length.',
})

export const payloadTooLarge = defineError({
  status: 413,
  code: 'payload_too_large',
  cause: 'The body or the report is larger than allowed.',
  remedy: 'Send a smaller body or report, or change the plan.',
})

export const unsupportedMediaType = defineError({
  status: 415,
  code: 'unsupported_media_type',
  cause: 'The body is not `application/json`, or it is compressed.',
  remedy: 'Send plain JSON.',
})

export const expectationFailed = defineError({
  status: 417,
  code: 'invalid_request',
  cause: 'The request has an `Expect` header other than `100-continue`.',
  remedy: 'Send the request again without the header.',
  message: 'The only supported expectation is 100-continue.',
})

export const headersTooLarge = defineError({
  status: 431,
  code: 'invalid_request',
  cause: 'The headers of the request are too large.',
  remedy: 'Send the request again with smaller headers.',
  message: 'The headers are too large.',
})

/** For a limit that does not reset at a known time: `resetAt` is null. */
export const limitReached = defineError({
  status: 429,
  code: 'rate_limited',
  cause: 'A limit is reached. `details` has `limit` and `resetAt`, which is null when the limit does not reset.',
  remedy: 'Wait for the seconds in `Retry-After`.',
  message: (message: string, _details: { limit: number; resetAt: string | null; reason?: string }) => message,
  details: (_message, details) => details,
})

/** A limit that resets at `resetAt`. `reason` is shown in the error's details. */
type ReachedLimit = { limit: number; resetAt: Date; now: Date; reason?: string }

export function createRateLimitError(message: string, { limit, resetAt, now, ...details }: ReachedLimit): ApiError {
  const seconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000))
  return limitReached(message, { limit, resetAt: resetAt.toISOString(), ...details }).retryAfter(seconds)
}

export const internalError = defineError({
  status: 500,
  code: 'internal_error',
  cause: 'The server failed.',
  remedy: 'Report it with its `x-request-id`.',
  message: 'An internal error occurred.',
})

export const serviceUnavailable = defineError({
  status: 503,
  code: 'unavailable',
  cause:
    'The database, the object store or the signing key cannot be reached, a report of the repository is being processed, ' +
    'too many large webhooks arrive at once, the policies of a gate that is opened again have no turn, the stored ' +
    'transparency log contradicts itself, or a signing key or an issued statement was changed in the database.',
  remedy: 'Try again after the seconds in `Retry-After`.',
})

const UNAVAILABLE_RETRY_SECONDS = 5

export function createUnavailableError(cause: unknown): ApiError {
  const message = 'The database or the object store is unreachable. Try again later.'
  return serviceUnavailable(message).retryAfter(UNAVAILABLE_RETRY_SECONDS).causedBy(cause)
}
