import { setTimeout } from 'node:timers/promises'

const POLL_MS = 50
/** Long enough for an import while the machine is busy with other tests. */
const WAIT_MS_MAX = 240_000

/** Polls until the value fits. The error of a time-out shows the last value. */
export async function until<Value>(read: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  const deadline = performance.now() + WAIT_MS_MAX
  for (;;) {
    const value = await read()
    if (fits(value)) return value
    if (performance.now() > deadline) throw new Error(`Still ${JSON.stringify(value, null, 2)}`)
    await setTimeout(POLL_MS)
  }
}
