import pino from 'pino'

export type Log = pino.Logger

/**
 * One JSON line an event, on standard error, so that standard output stays free for `--json`.
 * Secrets never reach it: headers are not logged at all, and known secret fields are cut.
 */
export function createLog(level: string): Log {
  return pino(
    { level, base: null, redact: ['*.authorization', '*.key', '*.password', '*.secret', '*.token'] },
    pino.destination({ dest: 2, sync: false }),
  )
}
