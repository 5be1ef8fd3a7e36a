import type { Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'
import { notifyCommitted } from './update.store.ts'
import { mergeUpdates, toMessages, type Update } from './update.ts'

const FLUSH_MS = 100
const UPDATES_KEPT_MAX = 1000

/**
 * Collects the live updates of this process and sends them ten times a second at most, however
 * many there are. Updates of a process that is killed in between are lost.
 */
export class UpdateFeed {
  readonly #sql: Sql
  readonly #log: Log
  #noted = new Map<string, Update[]>()
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> = Promise.resolve()

  constructor(sql: Sql, log: Log) {
    this.#sql = sql
    this.#log = log
  }

  /** Call it after the commit, so that readers see what has changed. */
  note(orgId: string, updates: readonly Update[]): void {
    if (updates.length === 0) return
    const noted = this.#noted.get(orgId) ?? []
    noted.push(...updates)
    this.#noted.set(orgId, noted.length > UPDATES_KEPT_MAX ? mergeUpdates(noted) : noted)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  /** Sends what was noted. */
  async close(): Promise<void> {
    this.#flush()
    await this.#flushing
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const messages = [...this.#noted].flatMap(([orgId, updates]) => toMessages(orgId, updates))
    this.#noted = new Map()
    if (messages.length === 0) return
    this.#flushing = notifyCommitted(this.#sql, messages).catch((err) => {
      this.#log.warn({ err }, 'Could not send live updates')
    })
  }
}
