import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type Postgres from 'postgres'
import type { DatabaseHost } from './database-url.ts'
import { postgres } from './driver/postgres.ts'

const ANSWER_MS_MAX = 2000

/** Asks a server whether it can be written to, on a connection that does not keep us running. */
export class ServerProbe {
  readonly host: DatabaseHost
  #sql: Postgres.Sql | null = null

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

  #open(): Postgres.Sql {
    const { host, port, url } = this.host
    const connect = () => Object.assign(new Socket(), { host, port }).connect(port, host).unref()
    const options = { max: 1, fetch_types: false, max_lifetime: null, onnotice: () => {} }
    const connection = { application_name: 'shiplock watch' }
    return postgres(url, { ...options, connection, socket: connect } as Postgres.Options<Record<string, never>>)
  }
}

async function readTimeline(sql: Postgres.Sql): Promise<number | null> {
  const [row] = await sql<[{ timeline: string | null }]>`
    select case
      when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null
      else left(pg_walfile_name(pg_current_wal_lsn()), 8)
    end as timeline`
  return row.timeline === null ? null : Number.parseInt(row.timeline, 16)
}
