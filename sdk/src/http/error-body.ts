import { type Refusal, ShiplockError } from './errors.ts'

/** A complete answer of a server, however it was received. */
export type Answer = {
  url: string
  status: number
  statusText: string
  header(name: string): string | null
  text: string
}

const RETRYABLE_STATUSES = [429, 500, 502, 503, 504]

/** Returns the error that an answer with a status of 300 or more describes. */
export function errorOf(answer: Answer): ShiplockError {
  const refusal = isRedirect(answer) ? redirected(answer) : refusalOf(answer)
  return new ShiplockError({
    ...refusal,
    retryable: refusal.retryable === true || RETRYABLE_STATUSES.includes(answer.status) || isEarly(refusal),
    requestId: answer.header('x-request-id') ?? answer.header('x-amz-request-id'),
    retryAfterMs: retryAfterMs(answer.header('retry-after'), Date.now()),
  })
}

/** A connected code host has not told the server of the run yet. It will. */
function isEarly({ code }: Refusal): boolean {
  return code === 'run_not_found'
}

/** The error for a success whose body is not JSON: something else than the API answered. */
export function notJson(answer: Answer): ShiplockError {
  const type = answer.header('content-type')?.split(';')[0] ?? 'content without a type'
  return new ShiplockError({
    status: answer.status,
    code: 'invalid_response',
    message: `The server at ${new URL(answer.url).origin} answered with ${type} that is not JSON. Check the URL.`,
    requestId: answer.header('x-request-id'),
  })
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3) as a time from now. Null for anything else. */
function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const at = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}

/** Browsers hide the status of a redirect that is not followed. */
function isRedirect({ status }: Answer): boolean {
  return status === 0 || (status >= 300 && status < 400)
}

/** Redirects are not followed, so that the credential is only sent to the given server. */
function redirected({ url, status, header }: Answer): Refusal {
  const location = header('location')
  const where = location && URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : ''
  const message = `The server at ${new URL(url).origin} redirects${where}. Redirects are not followed; use the URL of the server itself.`
  return { status, code: 'redirected', message }
}

function refusalOf(answer: Answer): Refusal {
  const body = parsed(answer.text)
  if (isRecord(body)) return envelope(body, answer) ?? flatError(body, answer) ?? gatewayRejection(body, answer)
  return storeError(answer) ?? withoutDescription(answer)
}

/** `{"error": {"code", "message", "details"}}`: the errors of the API. */
function envelope({ error, retryable }: Record<string, unknown>, { status }: Answer): Refusal | null {
  if (!isRecord(error) || typeof error.code !== 'string') return null
  const details = isRecord(error.details) ? error.details : {}
  const message = typeof error.message === 'string' ? error.message : error.code
  return { status, code: error.code, message, details, retryable: retryable === true || error.retryable === true }
}

/** `{"code", "error", "retryable"}`: the errors of the ingest routes. */
function flatError({ code, error, retryable }: Record<string, unknown>, { status }: Answer): Refusal | null {
  if (typeof code !== 'string') return null
  return { status, code, message: typeof error === 'string' ? error : code, retryable: retryable === true }
}

/** `{"message"}`: a rejection of the credential, which does not state the reason. */
function gatewayRejection({ message }: Record<string, unknown>, answer: Answer): Refusal {
  const { status } = answer
  if (status === 401)
    return { status, code: 'unauthorized', message: 'The server rejects the credential: it is missing or not valid.' }
  if (status === 403)
    return { status, code: 'forbidden', message: 'The credential does not have the scope that this request requires.' }
  return typeof message === 'string' ? { status, code: 'http_error', message } : withoutDescription(answer)
}

/** The XML of an S3-compatible store. */
function storeError({ status, text }: Answer): Refusal | null {
  const code = /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1]
  if (code === undefined) return null
  const message = /<Message>([^<]{1,1000})<\/Message>/.exec(text)?.[1] ?? code
  return { status, code, message: `The object store refused the file: ${message}` }
}

/** Proxies answer with HTML, or with nothing. */
function withoutDescription({ url, status, statusText }: Answer): Refusal {
  const reason = statusText ? ` ${statusText}` : ''
  const message = `The server at ${new URL(url).origin} answered ${status}${reason} without a description of the error.`
  return { status, code: 'http_error', message }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
