// The compiler is the test: `npm run typecheck` fails if a line below `@ts-expect-error` compiles.
// The functions are never called.
import type { Tx } from '../../src/platform/db/sql.ts'
import { copyAdvisories, mergeAdvisories } from '../../src/security/intel/advisory.store.ts'
import {
  readAssertions,
  replaceAssertions,
  replaceGroups,
  touchWholeGroups,
} from '../../src/security/intel/alias.store.ts'

export async function rightOrder(tx: Tx): Promise<void> {
  const incoming = await copyAdvisories(tx, async () => {})
  const { changed } = await mergeAdvisories(incoming)
  const groups = await touchWholeGroups(await replaceAssertions(changed))
  readAssertions(groups)
  await replaceGroups(groups, [])
}

export async function skipsSteps(tx: Tx): Promise<void> {
  // @ts-expect-error The records must be copied before they are merged.
  await mergeAdvisories({ tx })
  const incoming = await copyAdvisories(tx, async () => {})
  // @ts-expect-error The changed records must be selected before their aliases are stored.
  await replaceAssertions(incoming)
  const { changed } = await mergeAdvisories(incoming)
  // @ts-expect-error The aliases must be stored before the touched groups are read.
  await touchWholeGroups(changed)
  const touched = await replaceAssertions(changed)
  // @ts-expect-error Whole groups must be touched before their assertions are read.
  readAssertions(touched)
  // @ts-expect-error Whole groups must be touched before they are replaced.
  await replaceGroups(touched, [])
}
