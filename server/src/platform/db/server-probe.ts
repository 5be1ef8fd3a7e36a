import { setTimeout as delay } from 'node:timers/promises'
import { openClient, type Client as Sql } from './client/client.ts'
import type { DatabaseHost } from './client/database-url.ts'
import { toTarget } from './client/target.ts'

const ANSWER_MS_MAX = 2000

/** Asks a server whether it can be written to, on a connection that does not keep us running. */
export class ServerProbe {
  readonly host: DatabaseHost
  #sql: Sql | null = null

  constructor(host: DatabaseHost) {
    this.host = host
  }

  /**
   * The timeline of a server that can be written to, which every promotion raises; null for a
   * standby, and for a server that does not answer in time.
   */
  async timeline(): Promise<number | null> {
    const sql = this.#sql ?? this.#open()
    this.#sql = sql
    const expired = new AbortController()
    const answer = Promise.race([
      readTimeline(sql),
      delay(ANSWER_MS_MAX, undefined, expired).then(() => Promise.reject(new Error('no answer'))),
    ])
    try {
      return await answer
    } catch {
      this.#sql = null
      sql.end({ timeout: 0 }).catch(() => {})
      return null
    } finally {
      expired.abort()
    }
  }

  #open(): Sql {
    const parameters = { application_name: 'shiplock watch' }
    const target = toTarget(this.host.url, { parameters, connectMs: ANSWER_MS_MAX })
    return openClient({ max: 1, isLasting: true, target: () => ({ ...target, isBackground: true }) })
  }
}

async function readTimeline(sql: Sql): Promise<number | null> {
  const [row] = await sql<[{ timeline: string | null }]>`
    select case
      when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null
      else left(pg_walfile_name(pg_current_wal_lsn()), 8)
    end as timeline`
  return row.timeline === null ? null : Number.parseInt(row.timeline, 16)
}
