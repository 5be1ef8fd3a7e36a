import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuleMapFile } from './rule-map.schema.ts'
import { RuleMap } from './rule-map.ts'

const BUILT_IN = join(import.meta.dirname, 'rule-map')

/**
 * Returns the built-in rule map, extended by the groups of `file`, if given. A group of the file
 * replaces the built-in group with the same id. Throws an error that names the first mistake.
 */
export async function loadRuleMap(file: string | null): Promise<RuleMap> {
  const builtIn = await readBuiltIn()
  if (file === null) return new RuleMap(builtIn)
  try {
    return new RuleMap([...builtIn, await readOwn(file)])
  } catch (cause) {
    throw new Error(`SHIPLOCK_RULE_MAP ${(cause as Error).message}`, { cause })
  }
}

/** The built-in files are not validated at each start, which would take 0.1 s. A test does it. */
async function readBuiltIn(): Promise<RuleMapFile[]> {
  const names = (await readdir(BUILT_IN)).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(BUILT_IN, name), 'utf8')) as RuleMapFile))
}

/** Loads the schema of the file only if there is one, because loading TypeBox takes 0.1 s. */
async function readOwn(file: string): Promise<RuleMapFile> {
  const { loadRuleMapFile } = await import('./load-rule-map-file.ts')
  return loadRuleMapFile(file)
}
