import { constants } from 'node:os'
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

/** One Ctrl-C may arrive twice: from the terminal, and again from npm. */
const SAME_SIGNAL_MS = 1000

/** Signals to this process. `first` is aborted by the first one. */
export type SignalWatch = {
  first: AbortSignal
  /** Calls this for every further signal. */
  onSignal(listener: (signal: NodeJS.Signals) => void): void
}

/** From now on, signals do not end this process. */
export function watchSignals(): SignalWatch {
  const controller = new AbortController()
  const listeners: ((signal: NodeJS.Signals) => void)[] = []
  let lastAt = Number.NEGATIVE_INFINITY
  const pass = (signal: NodeJS.Signals) => {
    const isSame = performance.now() - lastAt < SAME_SIGNAL_MS
    lastAt = performance.now()
    if (isSame) return
    controller.abort(new Interrupted(signal))
    for (const listener of listeners) listener(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  return { first: controller.signal, onSignal: (listener) => listeners.push(listener) }
}

/** The exit code of a program that a signal ended, as shells have it. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
