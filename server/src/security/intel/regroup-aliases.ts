import type { Tx } from '../../platform/db/sql.ts'
import { copyAliases, mergeAliases, readAssertions, replaceAssertions, touchWholeGroups } from './alias.store.ts'
import { AliasGroups } from './alias-groups.ts'

const ROWS_AT_ONCE = 5000

/** Brings the groups of ids in line with what the changed advisories say. Groups that they do not touch are not looked at. */
export async function regroupAliases(tx: Tx): Promise<void> {
  await replaceAssertions(tx)
  await touchWholeGroups(tx)
  const groups = new AliasGroups()
  for await (const assertions of readAssertions(tx)) {
    for (const { id, alias } of assertions) groups.join(id, alias)
  }
  await copyGroups(tx, groups)
  await mergeAliases(tx)
}

async function copyGroups(tx: Tx, groups: AliasGroups): Promise<void> {
  const copy = await copyAliases(tx)
  let rows: [string, string][] = []
  for (const row of groups.entries()) {
    if (rows.push(row) < ROWS_AT_ONCE) continue
    await copy.write(rows)
    rows = []
  }
  await copy.write(rows)
  await copy.end()
}
