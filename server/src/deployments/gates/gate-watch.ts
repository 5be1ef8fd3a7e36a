import type { Sql } from '../../platform/db/sql.ts'
import { GATE_CHANNEL } from '../deployment-state.store.ts'

type Waiter = () => void

/**
 * Tells requests that wait for a gate when something happened to it, in whichever process. All of them share the one
 * connection on which this process listens.
 */
export class GateWatch {
  readonly #waiters = new Map<string, Set<Waiter>>()
  readonly #sql: Sql
  #isStopped = false

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Starts to listen. Whatever may have been missed while the connection was lost wakes everybody. */
  async listen(): Promise<() => Promise<void>> {
    const subscription = await this.#sql.listen(
      GATE_CHANNEL,
      (gateId) => this.#wake(gateId),
      () => this.#wakeAll(),
    )
    return () => subscription.unlisten()
  }

  /** Nobody waits any more, and nobody will. */
  stop(): void {
    this.#isStopped = true
    this.#wakeAll()
  }

  /** Starts to notice what happens to a gate: read the gate after this, or news could slip in between. */
  watch(gateId: string): GateNews {
    const news = new GateNews(() => this.#remove(gateId, news.wake))
    const waiters = this.#waiters.get(gateId) ?? new Set()
    this.#waiters.set(gateId, waiters.add(news.wake))
    return news
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  #wake(gateId: string): void {
    for (const wake of this.#waiters.get(gateId) ?? []) wake()
  }

  #wakeAll(): void {
    for (const gateId of this.#waiters.keys()) this.#wake(gateId)
  }

  #remove(gateId: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(gateId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiters.delete(gateId)
  }
}

/** What one request hears of its gate, from `watch` until `stop`. */
export class GateNews {
  readonly stop: () => void
  #arrived = Promise.withResolvers<void>()

  constructor(stop: () => void) {
    this.stop = stop
  }

  readonly wake: Waiter = () => this.#arrived.resolve()

  /** Resolves when there is news, when the time is over, or when the client has gone. */
  async next(timeoutMs: number, gone: AbortSignal): Promise<void> {
    const over = AbortSignal.any([AbortSignal.timeout(Math.max(0, timeoutMs)), gone])
    if (over.aborted) return
    const end = () => this.#arrived.resolve()
    over.addEventListener('abort', end, { once: true })
    await this.#arrived.promise
    over.removeEventListener('abort', end)
    this.#arrived = Promise.withResolvers()
  }
}
