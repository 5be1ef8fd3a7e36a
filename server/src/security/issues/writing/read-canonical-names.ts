import type { Tx } from '../../../platform/db/sql.ts'
import { holdIntel } from '../../intel/intel-hold.store.ts'
import { plainId } from '../../vocabulary/vulnerability-id.ts'
import type { GroupingFacts } from '../grouping/grouping-facts.ts'
import type { CanonicalId } from '../grouping/shared-names.ts'
import { readCanonicalIds } from './grouping.store.ts'

/**
 * Reads the canonical ids of the vulnerabilities that findings name. They do not change until the
 * transaction ends.
 */
export async function readCanonicalNames(tx: Tx, facts: readonly GroupingFacts[]): Promise<CanonicalId> {
  const ids = [...new Set(facts.flatMap((finding) => finding.vuln_ids.map(plainId)))]
  if (ids.length === 0) return (id) => id
  await holdIntel(tx)
  const canonicalIds = await readCanonicalIds(tx, ids)
  return (id) => canonicalIds.get(id) ?? id
}
