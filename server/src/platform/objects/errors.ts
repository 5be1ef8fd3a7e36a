import { type ApiError, defineError } from '../http/api-error.ts'
import { payloadTooLarge } from '../http/errors.ts'

export const checksumMismatch = defineError({
  status: 400,
  code: 'checksum_mismatch',
  cause: 'The PUT file does not match its declared checksum. It was not stored.',
  remedy: 'PUT the declared file.',
  message: 'The SHA-256 of the body differs from the declared one. Send the declared file.',
})

export const sizeMismatch = defineError({
  status: 400,
  code: 'size_mismatch',
  cause: 'The PUT file does not match its declared size. It was not stored.',
  remedy: 'PUT the declared file.',
})

export const invalidSignature = defineError({
  status: 403,
  code: 'invalid_signature',
  cause: 'The signature of a storage URL is not valid.',
  remedy: 'Create the upload again.',
})

export const urlExpired = defineError({
  status: 403,
  code: 'url_expired',
  cause: 'A storage URL has expired.',
  remedy: 'Create the upload again.',
  message: 'The URL has expired. Create the upload or add the artifact again to get a new one.',
})

export function createBodyTooLargeError(expectedBytes: number): ApiError {
  return payloadTooLarge(`The body must have exactly ${expectedBytes} bytes.`, { expectedBytes })
}

export function createWrongSizeError(expectedBytes: number, receivedBytes: number): ApiError {
  const message = `The body must have exactly ${expectedBytes} bytes, not ${receivedBytes}.`
  return sizeMismatch(message, { expectedBytes, receivedBytes })
}
