/**
 * Error codes of drivers and sockets which mean that the database or the object store is
 * unreachable.
 */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
  '25006', // read_only_sql_transaction: the server is a standby, or is being replaced
])
/** Class 08 of PostgreSQL's error codes. */
const CONNECTION_EXCEPTION = /^08[0-9A-Z]{3}$/

/** Whether an error means that the database or the object store cannot be reached at the moment. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  const code = String(error.code)
  return UNREACHABLE.has(code) || CONNECTION_EXCEPTION.test(code)
}
