import { oneLine } from '@shiplock/command-line/printable'
import type { ShiplockError } from '@shiplock/sdk'
import { namingArgument } from './refused-argument.ts'

/** One line about an error of a command. `url` is the server that was asked. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isShiplockError(error)) return describeRefusal(error)
  return oneLine(error.message)
}

/** The classes of the SDK are told by their names, so that `verify` needs no SDK. */
export function isShiplockError(error: unknown): error is ShiplockError {
  return error instanceof Error && error.name === 'ShiplockError'
}

function describeRefusal(error: ShiplockError): string {
  const { status, code, requestId } = error
  const request = requestId === null ? '' : `, request ${requestId}`
  return `${oneLine(namingArgument(error))} (${status} ${code}${request})`
}
