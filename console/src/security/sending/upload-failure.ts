import { NetworkError, ShiplockError } from '@shiplock/sdk'
import { asApiError } from '../../api/api-error.ts'
import type { Failure, SecurityUpload } from './upload-item.ts'

/** A file without content. */
export class EmptyFileError extends Error {}

/** A file that was deleted, moved or changed since it was chosen, or that may not be read. */
export class UnreadableFileError extends Error {}

const CHANGED = 'The file has changed'

const CHANGED_ADVICE = 'It was changed, moved or deleted while it was read. Remove it here, then choose it again.'

const REFUSALS: Record<string, Failure> = {
  not_signed_in: {
    title: 'You are signed out',
    advice: 'Sign in in another tab, then retry.',
    canRetry: true,
  },
  insufficient_permission: {
    title: 'You may not upload reports',
    advice: 'Your role lacks the permission “Upload security reports”. Ask an Org admin.',
    canRetry: true,
  },
  plan_required: {
    title: 'Not in your plan',
    advice: 'The plan of the organization does not include security uploads.',
    canRetry: false,
  },
  REPOSITORY_AMBIGUOUS: {
    title: 'The repository is on several code hosts',
    advice: 'Remove the file, choose the code host under “More options”, then choose the file again.',
    canRetry: false,
  },
  file_missing: {
    title: 'The file did not arrive',
    advice: 'The store does not have it. Retry sends it again.',
    canRetry: true,
  },
}

export function describeFailure(error: unknown): Failure {
  if (error instanceof EmptyFileError)
    return { title: 'The file is empty', advice: 'Check how the scanner writes its report.', canRetry: false }
  if (error instanceof UnreadableFileError)
    return { title: 'The file cannot be read', advice: CHANGED_ADVICE, canRetry: true, rereads: true }
  if (error instanceof ShiplockError) return ofStore(error)
  const response = asApiError(error)
  if (response === null) return unreachable(error)
  const known = REFUSALS[response.code]
  if (known) return known
  if (response.status === 413) return tooLarge(response.message)
  if (response.status === 429)
    return { title: 'The limit of uploads is reached', advice: response.message, canRetry: true }
  return { title: 'The server refused the upload', advice: response.message, canRetry: true }
}

/** Why the server could not read a report that it has. Null if it could. */
export function failureOf({ status, error }: SecurityUpload): Failure | null {
  if (status !== 'failed') return null
  const advice = error ?? 'The server does not state the reason.'
  if (/checksum mismatch|size mismatch/.test(advice))
    return { title: CHANGED, advice: CHANGED_ADVICE, canRetry: true, rereads: true }
  return { title: 'The report could not be read', advice, canRetry: true }
}

function ofStore({ status, code, message }: ShiplockError): Failure {
  if (status === 413) return tooLarge(message)
  if (/checksum|digest|size_mismatch|sha256/i.test(code))
    return { title: CHANGED, advice: CHANGED_ADVICE, canRetry: true, rereads: true }
  return { title: 'The store refused the file', advice: message, canRetry: true }
}

function tooLarge(message: string): Failure {
  return { title: 'The file is too large', advice: message.replace(/^\/body\/size: /, ''), canRetry: false }
}

/** Browsers report a file that cannot be read any more like a lost connection. */
function unreachable(error: unknown): Failure {
  const title = error instanceof NetworkError ? 'The file could not be sent' : 'The server cannot be reached'
  return {
    title,
    advice: 'Check your connection, then retry. If the file was changed or moved, remove it and choose it again.',
    canRetry: true,
    rereads: true,
  }
}
