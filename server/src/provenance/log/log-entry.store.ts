import type { Tx } from '../../platform/db/sql.ts'

/** A digest that is published in the log: a link of a chain, or the payload of a statement. */
export type LogEntry = { kind: 'change' | 'amendment' | 'statement'; sha256: Buffer }

/**
 * Adds an entry in the caller's transaction. It gets its position in the log soon afterwards. An
 * entry that is already there has no effect.
 */
export async function addLogEntry(tx: Tx, { kind, sha256 }: LogEntry): Promise<void> {
  await tx`
    insert into log_entries (kind, sha256)
    values (${kind}, ${sha256})
    on conflict do nothing`
}
