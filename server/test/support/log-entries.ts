import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { openSealedText, sealText } from '../../src/platform/crypto/sealed-text.ts'
import { findLogKey, insertLogEntry } from '../../src/provenance/log/log.store.ts'
import { computeEntryMac, formatKeyLabel, MACS_ENTRY } from '../../src/provenance/log/log-mac.ts'
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

/** Makes the log one that a version without macs has created. */
export async function removeMacs({ sql, sealingKey }: Pick<Services, 'sql' | 'sealingKey'>): Promise<void> {
  for (const table of ['signing_keys', 'statements', 'log_entries', 'log_checkpoints'])
    await sql`update ${sql(table)} set mac = null`
  const key = await findLogKey(sql)
  assert.ok(key)
  const pem = openSealedText(sealingKey, formatKeyLabel(key.origin, true), key.sealed_private_key)
  await sql`update log_key set sealed_private_key = ${sealText(sealingKey, formatKeyLabel(key.origin, false), pem)}`
}

/** The position of the entry that says that all rows have macs. */
export async function findMacsPosition({ sql }: Pick<Services, 'sql'>): Promise<number | null> {
  const [row] = await sql<{ leaf_index: number | null }[]>`
    select leaf_index from log_entries where sha256 = ${MACS_ENTRY.sha256}`
  return row?.leaf_index ?? null
}
