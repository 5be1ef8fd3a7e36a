import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import {
  findInventoryMatching,
  type InventoryMatching,
  updateInventoryMatching,
} from '../../organizations/organization.store.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { matchComponentsJob } from './match-components.job.ts'
import { insertMatchingProgress, updateMatchingDue } from './match-progress.store.ts'

/**
 * States whether components are matched with advisories (docs/inventory.md, "Matches"). A job opens
 * or ends the findings; what was decided about them stays.
 */
export async function assignInventoryMatching(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  author: Author,
  matching: InventoryMatching,
): Promise<void> {
  await sql.begin(async (tx) => {
    const before = await findInventoryMatching(tx, orgId)
    if (before === matching) return
    await updateInventoryMatching(tx, orgId, matching)
    await insertMatchingProgress(tx, orgId)
    await updateMatchingDue(tx, orgId, true)
    const object = { type: 'organization', id: orgId }
    const details = { inventory_matching: matching, before }
    await insertAuditEntry(tx, orgId, { ...author, action: 'organization.update', object, details }, clock.now())
    await enqueue(tx, matchComponentsJob, { org_id: orgId })
  })
}
