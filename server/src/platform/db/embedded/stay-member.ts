import { setTimeout as delay } from 'node:timers/promises'
import type { Membership } from './membership.ts'

/** A membership that is renewed when its connection is lost, until it is closed. */
type LastingMembership = {
  /**
   * Returns undefined if the claim succeeded, otherwise the process id of its holder (0 if
   * unknown).
   */
  claim(): Promise<number | undefined>
  /** Whether no other process uses the server. If so, others wait until this membership ends. */
  isAlone(): Promise<boolean>
  /**
   * Ends the membership. Calls the given function to stop the server if no other process uses it.
   */
  close(stopServer: () => Promise<void>): Promise<void>
}

const RETRY_MS = 1000

/** Joins, and joins again whenever the connection is lost. Starts the server if needed. */
export async function openLastingMembership(
  connect: (signal: AbortSignal) => Promise<Membership>,
  say: (line: string) => void,
): Promise<LastingMembership> {
  const closing = new AbortController()
  let current: Membership | undefined = await connect(closing.signal)
  let claimed = false

  const rejoin = async (): Promise<Membership | undefined> => {
    while (!closing.signal.aborted) {
      try {
        const membership = await connect(closing.signal)
        if (claimed) await membership.claim()
        return membership
      } catch (error) {
        if (closing.signal.aborted) break
        say(`PostgreSQL cannot be reached: ${(error as Error).message}`)
        await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
    return undefined
  }
  const watch = async (): Promise<void> => {
    while (current) {
      await Promise.race([current.lost, aborted(closing.signal)])
      if (closing.signal.aborted) return
      say('the connection to PostgreSQL was lost, joining again')
      current = await rejoin()
    }
  }
  const watching = watch()

  return {
    async claim() {
      const holder = await current?.claim()
      claimed = holder === undefined
      return holder
    },
    isAlone: async () => (await current?.isAlone()) ?? false,
    async close(stopServer) {
      if (closing.signal.aborted) return
      closing.abort()
      await watching
      if (await current?.leave().catch(() => false)) await stopServer()
      await current?.end()
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
