import { Interrupted } from './command.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Returns a signal that is aborted by the first Ctrl-C, SIGTERM or SIGHUP, so that the command can
 * end cleanly. The second one ends the process at once.
 */
export function onInterruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of SIGNALS) {
    process.once(signal, () => controller.abort(new Interrupted(signal)))
  }
  return controller.signal
}
