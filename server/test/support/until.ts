import { setTimeout as delay } from 'node:timers/promises'

const EVERY_MS = 50

/** Waits until `check` answers something that is true. Fails after the time. */
export async function until<Found>(what: string, msMax: number, check: () => Promise<Found> | Found): Promise<Found> {
  const end = performance.now() + msMax
  for (;;) {
    const found = await check()
    if (found) return found
    if (performance.now() > end) throw new Error(`Not within ${msMax / 1000} s: ${what}`)
    await delay(EVERY_MS)
  }
}
