import { readFile } from 'node:fs/promises'
import { Value } from 'typebox/value'
import { RuleMapFile } from './rule-map.schema.ts'

/** Reads and validates one file. */
export async function loadRuleMapFile(file: string): Promise<RuleMapFile> {
  const content = await readJson(file)
  if (Value.Check(RuleMapFile, content)) return refuseDuplicates(file, content)
  const [mistake] = Value.Errors(RuleMapFile, content)
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
