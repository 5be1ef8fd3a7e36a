// The compiler is the test: `npm run typecheck` fails if a line below `@ts-expect-error` compiles.
// The functions are never called.
import type { Tx } from '../../src/platform/db/sql.ts'
import { copyAdvisories, upsertAdvisories } from '../../src/security/intel/advisory.store.ts'
import {
  insertTouchedGroups,
  listAssertions,
  upsertAssertions,
  upsertGroups,
} from '../../src/security/intel/alias.store.ts'

export async function rightOrder(tx: Tx): Promise<void> {
  const incoming = await copyAdvisories(tx, async () => {})
  const { changed } = await upsertAdvisories(incoming)
  const groups = await insertTouchedGroups(await upsertAssertions(changed))
  listAssertions(groups)
  await upsertGroups(groups, [])
}

export async function skipsSteps(tx: Tx): Promise<void> {
  // @ts-expect-error The records must be copied before they are merged.
  await upsertAdvisories({ tx })
  const incoming = await copyAdvisories(tx, async () => {})
  // @ts-expect-error The changed records must be selected before their aliases are stored.
  await upsertAssertions(incoming)
  const { changed } = await upsertAdvisories(incoming)
  // @ts-expect-error The aliases must be stored before the touched groups are read.
  await insertTouchedGroups(changed)
  const touched = await upsertAssertions(changed)
  // @ts-expect-error Whole groups must be touched before their assertions are read.
  listAssertions(touched)
  // @ts-expect-error Whole groups must be touched before they are replaced.
  await upsertGroups(touched, [])
}
