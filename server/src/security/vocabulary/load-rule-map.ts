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
  if (file === null) return loadBuiltIn()
  try {
    return new RuleMap([...(await readBuiltIn()), await loadRuleMapFile(file)])
  } catch (cause) {
    throw new Error(`SHIPLOCK_RULE_MAP ${(cause as Error).message}`, { cause })
  }
}

let builtIn: Promise<RuleMap> | null = null

/** Once a process. */
function loadBuiltIn(): Promise<RuleMap> {
  builtIn ??= readBuiltIn().then((files) => new RuleMap(files))
  return builtIn
}

/** The built-in files are not validated at each start, which would take 0.1 s. A test does it. */
async function readBuiltIn(): Promise<RuleMapFile[]> {
  const names = (await readdir(BUILT_IN)).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(BUILT_IN, name), 'utf8')) as RuleMapFile))
}

/** Reads and validates one file. Only then loads its schema, because TypeBox takes 0.1 s. */
export async function loadRuleMapFile(file: string): Promise<RuleMapFile> {
  const { Value } = await import('typebox/value')
  const schema = await import('./rule-map.schema.ts')
  const content = await readJson(file)
  if (Value.Check(schema.RuleMapFile, content)) return refuseDuplicates(file, content)
  const [mistake] = Value.Errors(schema.RuleMapFile, content)
  const path = mistake?.instancePath || '/'
  const problem = mistake?.keyword === 'boolean' ? 'is unknown' : mistake?.message
  throw new Error(`${file}: ${entryAt(content, path)}${path} ${problem}`)
}

/** The id of the group that a JSON pointer leads into, as the start of a message. */
function entryAt(content: unknown, pointer: string): string {
  const [, list = '', index = ''] = pointer.split('/')
  const id = (content as Record<string, { id?: unknown }[]> | null)?.[list]?.[Number(index)]?.id
  return typeof id === 'string' ? `group "${id}": ` : ''
}

function refuseDuplicates(file: string, content: RuleMapFile): RuleMapFile {
  for (const list of [content.weaknesses ?? [], content.controls ?? []]) {
    const ids = list.map(({ id }) => id)
    const duplicate = ids.find((id, index) => ids.indexOf(id) !== index)
    if (duplicate !== undefined) throw new Error(`${file}: two groups have the id "${duplicate}"`)
  }
  return content
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause })
  }
}
