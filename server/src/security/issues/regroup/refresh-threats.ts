import type { Services } from '../../../services.ts'
import { holdIntel } from '../../intel/intel-hold.store.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { readStaleIssues, type StaleIssues, updateThreats } from '../writing/issue-threat.store.ts'

/**
 * Brings what issues are filtered and sorted by of KEV and EPSS in line with what is known: only those that change are written,
 * in short transactions beside the one that finds them. Interrupted, it finds what is left.
 */
export async function refreshThreats(services: Services): Promise<void> {
  await services.sql.begin(async (tx) => {
    for await (const parts of await readStaleIssues(tx)) {
      for (const stale of parts) await refreshIssues(services, stale)
    }
  })
}

async function refreshIssues({ sql }: Services, { org_id, repository_no, issue_ids }: StaleIssues): Promise<void> {
  await sql.begin(async (tx) => {
    await lockRepository(tx, org_id, repository_no)
    await holdIntel(tx)
    await updateThreats(tx, org_id, issue_ids)
  })
}
