import type { Tx } from '../../platform/db/sql.ts'

/**
 * Keeps the stored intelligence unchanged until the transaction ends: an import that would change
 * it waits. So when an import commits, every issue that was grouped by the data before it is
 * visible to the job that follows the import.
 */
export async function holdIntel(tx: Tx): Promise<void> {
  await tx`lock table vulnerability_aliases, intel_kev, intel_epss in row share mode`
}

/**
 * Waits for the transactions that have locked a table of intelligence, and makes others wait until
 * this transaction ends. Readers do not wait.
 */
export async function awaitHolders(tx: Tx, table: 'vulnerability_aliases' | 'intel_kev' | 'intel_epss'): Promise<void> {
  await tx`lock table ${tx(table)} in exclusive mode`
}
