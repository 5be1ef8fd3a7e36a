import type { Services } from '../../services.ts'
import { lockTriaged } from '../issues/writing/grouping.store.ts'
import { applyStatements } from './apply-statements.ts'
import { listRepositories } from './verdict.store.ts'

/**
 * Applies the statements of every repository again after an import of aliases: a statement and a
 * finding may now name the same vulnerability by different ids, or no longer do so.
 */
export async function followAliases({ sql, clock }: Services, { source }: { source: string }): Promise<void> {
  if (source !== 'osv') return
  for (const { org_id, repository_no } of await listRepositories(sql)) {
    await sql.begin(async (tx) => {
      await lockTriaged(tx, org_id, [repository_no])
      await applyStatements(tx, { org_id, repository_no, at: clock.now() })
    })
  }
}
