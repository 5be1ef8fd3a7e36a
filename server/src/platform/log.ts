import pino from 'pino'

export type Log = pino.Logger

/**
 * Writes one JSON line for each event to standard error, so that standard output stays free for
 * `--json`. Headers are never logged, and fields with the names of secrets are redacted.
 */
export function createLog(level: string): Log {
  return pino(
    { level, base: null, redact: ['*.authorization', '*.key', '*.password', '*.secret', '*.token'] },
    pino.destination({ dest: 2, sync: false }),
  )
}
