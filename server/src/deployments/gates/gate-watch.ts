import type { Sql } from '../../platform/db/sql.ts'
import { GATE_CHANNEL } from '../deployment-state.store.ts'

type Waiter = () => void

/**
 * Wakes requests that wait for a gate when the gate changes in any process. All requests of this
 * process share one listening connection.
 */
export class GateWatch {
  readonly #waiters = new Map<string, Set<Waiter>>()
  readonly #sql: Sql
  #isStopped = false

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /**
   * Starts to listen. A reconnect wakes all waiters, because notifications may have been lost
   * before it.
   */
  async listen(): Promise<() => Promise<void>> {
    const subscription = await this.#sql.listen(
      GATE_CHANNEL,
      (gateId) => this.#wake(gateId),
      () => this.#wakeAll(),
    )
    return () => subscription.unlisten()
  }

  /** Wakes all waiters and sets `isStopped`. */
  stop(): void {
    this.#isStopped = true
    this.#wakeAll()
  }

  /**
   * Starts to watch a gate. Read the gate after this call, so that no change is missed in between.
   */
  watch(gateId: string): GateChanges {
    const changes = new GateChanges(() => this.#remove(gateId, changes.wake))
    const waiters = this.#waiters.get(gateId) ?? new Set()
    this.#waiters.set(gateId, waiters.add(changes.wake))
    return changes
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

/** The changes of one gate as one request sees them, from `watch` until `stop`. */
class GateChanges {
  readonly stop: () => void
  #arrived = Promise.withResolvers<void>()

  constructor(stop: () => void) {
    this.stop = stop
  }

  readonly wake: Waiter = () => this.#arrived.resolve()

  /** Resolves when the gate has changed, after `timeoutMs`, or when the client has disconnected. */
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
