import { S3ServiceException } from '@aws-sdk/client-s3'
import { unavailable } from '../http/errors.ts'

const MESSAGE_CHARS_MAX = 300

/** The request's result. Throws 503 `unavailable` for whatever goes wrong. */
export async function orUnavailable<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request
  } catch (error) {
    throw s3Failure(error)
  }
}

/** The request's result, or null where its object does not exist. Every other failure is thrown as it is. */
export async function ignoreAbsent<Result>(request: Promise<Result>): Promise<Result | null> {
  try {
    return await request
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** HEAD answers have no body, so they say `NotFound` where GET says `NoSuchKey`. A bucket that does not exist is a failure. */
function isAbsent(error: unknown): boolean {
  return error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound')
}

/** A range that begins behind the end, RFC 9110 §15.5.17. */
export function isBehindTheEnd(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 416
}

/**
 * Whatever the store refuses or leaves unanswered is a 503: the caller of the API did nothing wrong. The cause is written
 * anew, because what the SDK throws carries the store's whole answer, and some repeat key ids and signatures in it.
 */
export function s3Failure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const status = error instanceof S3ServiceException ? ` (HTTP ${error.$metadata.httpStatusCode})` : ''
  const code = 'code' in error ? ` ${error.code}` : ''
  const message = error.message.slice(0, MESSAGE_CHARS_MAX)
  return unavailable(new Error(`The object store failed: ${error.name}${code}${status}: ${message}`))
}
