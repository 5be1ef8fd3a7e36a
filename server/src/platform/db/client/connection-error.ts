import pg, { type DatabaseError } from 'pg'

type Code =
  | 'CONNECT_TIMEOUT'
  /** The connection was lost. */
  | 'CONNECTION_CLOSED'
  /** The pool did not wait any longer for what was in progress. */
  | 'CONNECTION_DESTROYED'
  /** The pool has ended. */
  | 'CONNECTION_ENDED'

const MESSAGES: Record<Code, string> = {
  CONNECT_TIMEOUT: 'The database did not accept a connection in time',
  CONNECTION_CLOSED: 'The connection to the database was closed',
  CONNECTION_DESTROYED: 'The connection to the database was given up',
  CONNECTION_ENDED: 'The connections to the database have been ended',
}

/** A failure of a connection, as opposed to one of a statement. */
export class ConnectionError extends Error {
  readonly code: Code

  constructor(code: Code, address: string, cause?: unknown) {
    super(`${MESSAGES[code]}: ${address}`, { cause })
    this.code = code
  }
}

/** pg gives codes to the failures of sockets, but not to those of its own. */
export function hasCode(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

/** Whether PostgreSQL has sent the error. */
export function isFromServer(error: unknown): error is DatabaseError {
  return error instanceof pg.DatabaseError
}

/** Whether PostgreSQL ends the connection after this error. */
export function isFatal(error: unknown): boolean {
  if (!isFromServer(error)) return false
  return error.severity === 'FATAL' || error.severity === 'PANIC' || /^57P0[1-5]$/.test(error.code ?? '')
}
