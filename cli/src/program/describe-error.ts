import type { ShiplockError } from '@shiplock/sdk'

/** One line about an error of a command. `url` is the server that was asked. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isShiplockError(error)) return describeRefusal(error)
  return oneLine(error.message)
}

/** The classes of the SDK are told by their names, so that `verify` needs no SDK. */
function isShiplockError(error: Error): error is ShiplockError {
  return error.name === 'ShiplockError'
}

function describeRefusal({ message, status, code, requestId }: ShiplockError): string {
  const request = requestId === null ? '' : `, request ${requestId}`
  return `${oneLine(message)} (${status} ${code}${request})`
}

export function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
