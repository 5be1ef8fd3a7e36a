import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUILT_IN_PLANS, type Plan } from '../../src/organizations/plan.ts'

/**
 * A file for SHIPLOCK_PLANS_FILE: the built-in plans and those of `changes` by name, each made of
 * the largest.
 */
export async function writePlans(changes: Record<string, Partial<Plan>>) {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-plans-'))
  const file = join(directory, 'plans.json')
  const largest = BUILT_IN_PLANS.at(-1)
  const added = Object.entries(changes).map(([name, change]) => ({ ...largest, ...change, name }))
  await writeFile(file, JSON.stringify([...BUILT_IN_PLANS, ...added]))
  return { env: { SHIPLOCK_PLANS_FILE: file }, remove: () => rm(directory, { recursive: true, force: true }) }
}
