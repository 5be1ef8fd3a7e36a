import { setTimeout as delay } from 'node:timers/promises'
import { newRun } from './ci-runs.ts'

/** What a load of createCiRun has seen so far. */
export type LoadFigures = {
  /** External ids of the runs that a server has acknowledged, with the ids that it answered. */
  acknowledged: Map<string, string>
  /** When each 503 arrived, in milliseconds of `performance.now`. */
  unavailableAt: number[]
  /** Everything else that went wrong, in words. */
  failures: string[]
  /** Runs that a repeated call found to exist, although the first call had answered 503. */
  mended: number
}

export type RunLoad = LoadFigures & { stop(): Promise<void> }

type LoadOptions = {
  keys: string[]
  clients: number
  /** The server of the next request. */
  nextUrl: () => string
  /** Waits between a 503 and the same call again. */
  retryMs: number
}

let loads = 0

/**
 * Clients that create runs one after the other and repeat a call until it is acknowledged, as the
 * API says: after a 503 with `Retry-After`.
 */
export function startRunLoad({ keys, clients, nextUrl, retryMs }: LoadOptions): RunLoad {
  const figures: LoadFigures = { acknowledged: new Map(), unavailableAt: [], failures: [], mended: 0 }
  let stopped = false
  loads += 1
  const load = loads
  const createOne = async (externalId: string, key: string) => {
    const body = JSON.stringify(newRun({ external_run_id: externalId }))
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    for (let tries = 1; ; tries += 1) {
      const answer = await fetch(`${nextUrl()}/v1/ci/runs`, { method: 'POST', headers, body })
      const text = await answer.text()
      if (answer.status === 503) {
        figures.unavailableAt.push(performance.now())
        if (!answer.headers.has('retry-after')) figures.failures.push('503 without Retry-After')
        await delay(retryMs)
        continue
      }
      if (answer.status !== 201 && answer.status !== 200) throw new Error(`${answer.status} ${text}`)
      if (answer.status === 200 && tries > 1) figures.mended += 1
      if (answer.status === 200 && tries === 1) figures.failures.push(`200 for the new run ${externalId}`)
      figures.acknowledged.set(externalId, JSON.parse(text).data.id)
      return
    }
  }
  const work = async (_: unknown, client: number) => {
    for (let made = 0; !stopped; made += 1) {
      const key = keys[client % keys.length] as string
      await createOne(`load-${load}-${client}-${made}`, key).catch((error: Error) =>
        figures.failures.push(`${error.message} ${error.cause ?? ''}`),
      )
    }
  }
  const working = Promise.all(Array.from({ length: clients }, work))
  const stop = async () => {
    stopped = true
    await working
  }
  return Object.assign(figures, { stop })
}
