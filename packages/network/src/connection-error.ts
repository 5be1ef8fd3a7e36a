/**
 * No connection, for a reason that people can do something about: the message names the proxy or the
 * certificate, and the variable to set. It never has the password of a proxy.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** Whether another try fails in the same way. */
  readonly isFinal: boolean

  constructor(message: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isFinal = isFinal
  }
}
