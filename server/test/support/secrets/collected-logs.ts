import { appendFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Readable } from 'node:stream'
import pino from 'pino'
import { createLog, type Log } from '../../../src/platform/log.ts'

/** The variable that names the directory in which the runner collects logs and secrets. */
export const SECRETS_DIRECTORY = 'SHIPLOCK_TEST_SECRETS_DIR'

/** The level of servers in tests. */
export const QUIET = 'fatal'

/** Named after the test file, so that a leak leads to it. */
export function collectedFile(ending: string): string | null {
  const directory = process.env[SECRETS_DIRECTORY]
  return directory ? join(directory, `${basename(process.argv[1] ?? 'test')}-${process.pid}${ending}`) : null
}

/**
 * The log of a server in a test. All levels are collected for the runner, unless the test reads the
 * log itself: it then sets another level than `QUIET`.
 */
export function collectedLog(level: string): Log {
  const file = collectedFile('.log')
  return file === null || level !== QUIET
    ? createLog(level)
    : createLog('trace', pino.destination({ dest: file, sync: false }))
}

/** Collects what a program writes to standard error. */
export function collectOutput(stream: Readable | null): void {
  const file = collectedFile('.log')
  if (file !== null) stream?.on('data', (chunk) => appendFileSync(file, chunk))
}
