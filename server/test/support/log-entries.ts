import { createHash } from 'node:crypto'
import type { Sql } from '../../src/platform/db/sql.ts'
import { insertLogEntry } from '../../src/provenance/log/log.store.ts'
import type { LogEntry } from '../../src/provenance/log/tile.ts'

const KINDS = ['change', 'amendment', 'statement'] as const

/** The n-th of many different entries. */
export function logEntry(number: number): LogEntry {
  const sha256 = createHash('sha256').update(`log entry ${number}`).digest()
  return { kind: KINDS[number % KINDS.length] as LogEntry['kind'], sha256 }
}

/** Adds entries in one transaction. */
export async function addLogEntries(sql: Sql, first: number, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await Promise.all(Array.from({ length: count }, (_, at) => insertLogEntry(tx, logEntry(first + at))))
  })
}
