import type { Tx } from '../../../platform/db/sql.ts'
import { holdIntel } from '../../intel/intel-hold.store.ts'
import { plainId } from '../../vocabulary/vulnerability-id.ts'
import type { GroupingFacts } from '../grouping/grouping-facts.ts'
import type { CanonicalId } from '../grouping/vulnerability-names.ts'
import { readCanonicalIds } from './grouping.store.ts'

/** By which id each vulnerability that the findings name is known. That stays so until the transaction ends. */
export async function readCanonicalNames(tx: Tx, facts: readonly GroupingFacts[]): Promise<CanonicalId> {
  const ids = [...new Set(facts.flatMap((finding) => finding.vuln_ids.map(plainId)))]
  if (ids.length === 0) return (id) => id
  await holdIntel(tx)
  const canonicalIds = await readCanonicalIds(tx, ids)
  return (id) => canonicalIds.get(id) ?? id
}
