import pino from 'pino'
import { getCurrentWork } from './tracing.ts'

export type Log = pino.Logger

/**
 * Writes one JSON line for each event to standard error, so that standard output stays free for
 * `--json`. The lines of a request or a job state its ids. Headers are never logged, and fields
 * with the names of secrets are redacted.
 */
export function createLog(
  level: string,
  destination: pino.DestinationStream = pino.destination({ dest: 2, sync: false }),
): Log {
  return pino(
    {
      level,
      base: null,
      redact: ['*.authorization', '*.key', '*.password', '*.secret', '*.token'],
      mixin: () => ({ ...getCurrentWork()?.fields }),
    },
    destination,
  )
}
