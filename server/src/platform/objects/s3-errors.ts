import { S3ServiceException } from '@aws-sdk/client-s3'
import { createUnavailableError } from '../http/errors.ts'

const MESSAGE_CHARS_MAX = 300

/** Returns the request's result. Throws 503 `unavailable` for every failure. */
export async function requireAvailable<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request
  } catch (error) {
    throw toS3Failure(error)
  }
}

/** Returns the request's result, or null if the object does not exist. Rethrows other failures. */
export async function toNullIfAbsent<Result>(request: Promise<Result>): Promise<Result | null> {
  try {
    return await request
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/**
 * Responses to HEAD have no body and contain `NotFound` instead of `NoSuchKey`. A missing bucket is
 * a failure.
 */
function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound')
}

/**
 * Converts every failure of the store to a 503, because the caller did nothing wrong. The cause is
 * rewritten: the errors of the SDK contain the whole response, which may repeat key ids and
 * signatures.
 */
export function toS3Failure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const status = error instanceof S3ServiceException ? ` (HTTP ${error.$metadata.httpStatusCode})` : ''
  const code = 'code' in error ? ` ${error.code}` : ''
  const message = error.message.slice(0, MESSAGE_CHARS_MAX)
  return createUnavailableError(new Error(`The object store failed: ${error.name}${code}${status}: ${message}`))
}
