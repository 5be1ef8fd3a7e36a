/**
 * Resolves at the first SIGTERM or SIGINT. Listening goes on for good: a second signal finds the stop under way and
 * changes nothing, instead of ending the process in the middle of it.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
}
