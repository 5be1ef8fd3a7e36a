import type { Tx } from '../../platform/db/sql.ts'

/**
 * Keeps what is known of vulnerabilities as it is until the transaction ends: an import that would change it waits, and looks
 * for the issues that it concerns only then. So none is grouped by what was known before and overlooked.
 */
export async function holdIntel(tx: Tx): Promise<void> {
  await tx`lock table vulnerability_aliases, intel_kev, intel_epss in row share mode`
}

/** Waits for all that hold a table of what is known, and makes others wait until the transaction ends. Reading goes on. */
export async function awaitHolders(tx: Tx, table: 'vulnerability_aliases' | 'intel_kev' | 'intel_epss'): Promise<void> {
  await tx`lock table ${tx(table)} in exclusive mode`
}
