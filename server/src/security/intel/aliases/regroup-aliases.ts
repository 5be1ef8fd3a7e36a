import { copyAll } from '../../../platform/db/copy-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { noteDueBuckets } from '../../issues/regroup/due-bucket.store.ts'
import { awaitHolders } from '../intel-hold.store.ts'
import { copyAliases, mergeAliases, readAssertions, replaceAssertions, touchWholeGroups } from './alias.store.ts'
import { AliasGroups } from './alias-groups.ts'

/**
 * Brings the groups of ids in line with what the changed advisories say, and notes which issues are to be grouped anew. Groups
 * that they do not touch are not looked at.
 */
export async function regroupAliases(tx: Tx): Promise<void> {
  await replaceAssertions(tx)
  await touchWholeGroups(tx)
  const groups = new AliasGroups()
  for await (const assertions of readAssertions(tx)) {
    for (const { id, alias } of assertions) groups.join(id, alias)
  }
  await copyAll(await copyAliases(tx), groups.entries())
  await awaitHolders(tx, 'vulnerability_aliases')
  await mergeAliases(tx)
  await noteDueBuckets(tx, 'osv')
}
