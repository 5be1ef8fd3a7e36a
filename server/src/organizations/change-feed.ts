import type { Sql } from '../platform/db/sql.ts'
import type { Log } from '../platform/log.ts'
import { notifyCommitted } from './change.store.ts'
import { type Change, condense, toMessages } from './change.ts'

const FLUSH_MS = 100
const CHANGES_KEPT_MAX = 1000

/**
 * Collects the committed changes of this process and sends them ten times a second at most, however
 * many there are. Changes of a process that is killed in between are lost.
 */
export class ChangeFeed {
  readonly #sql: Sql
  readonly #log: Log
  #noted = new Map<string, Change[]>()
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> = Promise.resolve()

  constructor(sql: Sql, log: Log) {
    this.#sql = sql
    this.#log = log
  }

  /** Call it after the commit, so that readers see the change. */
  note(orgId: string, changes: readonly Change[]): void {
    if (changes.length === 0) return
    const noted = this.#noted.get(orgId) ?? []
    noted.push(...changes)
    this.#noted.set(orgId, noted.length > CHANGES_KEPT_MAX ? condense(noted) : noted)
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
    const messages = [...this.#noted].flatMap(([orgId, changes]) => toMessages(orgId, changes))
    this.#noted = new Map()
    if (messages.length === 0) return
    this.#flushing = notifyCommitted(this.#sql, messages).catch((err) => {
      this.#log.warn({ err }, 'Could not send live updates')
    })
  }
}
