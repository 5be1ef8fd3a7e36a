import type { Sql, Tx } from '../sql.ts'
import { runMigrationStep } from './migration-lock.ts'
import { countEstimatedRows, readPosition, readRecords, record, writePosition } from './migration-records.ts'
import type { Migration } from './read-migrations.ts'

/** Receives how many rows of how many a migration in batches has handled. */
export type FollowBatches = (rows: number, total: number, table: string) => void

/**
 * Repeats the statement of a migration, each time in a transaction of its own. It gets the position
 * that it has returned before as `$1` (null at first), and returns one row with the next
 * `position`, which is null at the end, and the number of `rows` that it has handled. The position
 * is stored in the same transaction, so that another process continues after an interruption.
 */
export async function runBatches(sql: Sql, migration: Migration, follow: FollowBatches): Promise<boolean> {
  const table = migration.kind.run === 'batches' ? migration.kind.table : ''
  const total = await countEstimatedRows(sql, table)
  for (;;) {
    const rows = await runMigrationStep(sql, migration.name, (tx) => runBatch(tx, migration))
    if (rows === 'applied before') return false
    if (rows === 'ended') return true
    follow(rows, total, `rows of ${table}`)
  }
}

/** Returns the number of rows that all batches have handled. */
async function runBatch(tx: Tx, migration: Migration): Promise<number | 'ended' | 'applied before'> {
  if ((await readRecords(tx)).has(migration.name)) return 'applied before'
  const before = await readPosition(tx, migration.name)
  const [batch] = await tx.unsafe<[{ position: string | null; rows: number }?]>(migration.text, [before.position])
  const after = { position: batch?.position ?? null, rows: before.rows + Number(batch?.rows ?? 0) }
  await writePosition(tx, migration.name, after)
  if (after.position !== null) return after.rows
  await record(tx, migration)
  return 'ended'
}
