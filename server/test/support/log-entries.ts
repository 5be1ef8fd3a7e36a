import { createHash } from 'node:crypto'
import { insertLogEntry } from '../../src/provenance/log/log.store.ts'
import { computeEntryMac } from '../../src/provenance/log/log-mac.ts'
import type { LogEntry } from '../../src/provenance/log/tile.ts'
import type { Services } from '../../src/services.ts'

const KINDS = ['change', 'amendment', 'statement'] as const

/** The n-th of many different entries. */
export function logEntry(number: number): LogEntry {
  const sha256 = createHash('sha256').update(`log entry ${number}`).digest()
  return { kind: KINDS[number % KINDS.length] as LogEntry['kind'], sha256 }
}

type Needed = Pick<Services, 'sql' | 'integrityKey'>

export function logMac({ integrityKey }: Pick<Services, 'integrityKey'>, number: number): Buffer {
  return computeEntryMac(integrityKey, logEntry(number))
}

/** Adds entries in one transaction. */
export async function addLogEntries(services: Needed, first: number, count: number): Promise<void> {
  await services.sql.begin(async (tx) => {
    const numbers = Array.from({ length: count }, (_, at) => first + at)
    await Promise.all(numbers.map((number) => insertLogEntry(tx, logEntry(number), logMac(services, number))))
  })
}
