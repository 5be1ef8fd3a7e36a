import {
  type ChangedAdvisories,
  readAssertions,
  replaceAssertions,
  replaceGroups,
  touchWholeGroups,
} from './alias.store.ts'
import { AliasGroups } from './alias-groups.ts'

/**
 * Brings the groups of aliases in line with the changed OSV records. Groups that the records do not
 * concern are not read. The changes are recorded for `issues/regroup`, which regroups the issues
 * that they concern.
 */
export async function regroupAliases(changed: ChangedAdvisories): Promise<void> {
  const touched = await touchWholeGroups(await replaceAssertions(changed))
  const groups = new AliasGroups()
  for await (const assertions of readAssertions(touched)) {
    for (const { id, alias } of assertions) groups.join(id, alias)
  }
  await replaceGroups(touched, groups.entries())
}
