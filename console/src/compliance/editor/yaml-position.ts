/** Where the cursor is in a YAML file of block maps and lists, also while the file is incomplete. */
type YamlPosition = {
  /** The fields above, from the outermost: `['rules', 'expression']`. */
  path: string[]
  /** Whether a field name is typed, or a value of the last field in `path`. */
  kind: 'key' | 'value'
  /** What is typed so far, before the cursor. */
  word: string
  /** The fields that the map has already. */
  siblings: string[]
}

type Line = { indent: number; key: string | null; rest: string; startsItem: boolean }

/** Returns null inside of comments and block texts. */
export function positionIn(text: string, offset: number): YamlPosition | null {
  const lines = text.slice(0, offset).split('\n')
  const typed = lines.at(-1) ?? ''
  if (/(^|\s)#/.test(typed)) return null
  const current = readLine(typed)
  const above = lines.slice(0, -1).map(readLine)
  const parents = parentsOf(above, current.indent)
  if (parents.some(({ rest }) => /^[|>]/.test(rest))) return null
  const outer = parents.map(({ key }) => key as string)
  if (current.key !== null)
    return { path: [...outer, current.key], kind: 'value', word: lastValue(current.rest), siblings: [] }
  const word = typed.replace(/^(?:\s|- )*/, '')
  if (!/^[\w-]*$/.test(word)) return null
  return { path: outer, kind: 'key', word, siblings: siblingsOf(text.split('\n').map(readLine), lines.length - 1) }
}

/** A `- ` counts as indentation: the fields of an item stand below the first one. */
function readLine(line: string): Line {
  const [, lead = '', key = null, rest = ''] = /^((?:\s|- )*)(?:([\w-]+)\s*:(?=\s|$)\s*(.*))?/.exec(line) ?? []
  return { indent: lead.length, key, rest, startsItem: lead.includes('- ') }
}

/** The nearest lines above with less and less indentation. */
function parentsOf(above: readonly Line[], indent: number): Line[] {
  const parents: Line[] = []
  let limit = indent
  for (const line of above.toReversed()) {
    if (line.key === null || line.indent >= limit) continue
    parents.unshift(line)
    limit = line.indent
  }
  return parents
}

/** The last entry of a flow list, or the whole value. */
function lastValue(rest: string): string {
  return rest.replace(/^\[(?:.*,)?\s*/, '')
}

function siblingsOf(lines: readonly Line[], at: number): string[] {
  const { indent } = lines[at] as Line
  const ends = (line: Line) => line.key !== null && line.indent < indent
  const before = lines.slice(0, at).toReversed()
  const after = lines.slice(at + 1)
  const isOwnItem = lines[at]?.startsItem
  const upper = isOwnItem ? [] : untilItem(before.slice(0, endOf(before, ends)), indent)
  const next = after.slice(
    0,
    endOf(after, (line) => ends(line) || (line.startsItem && line.indent <= indent)),
  )
  return [...upper, ...next].flatMap(({ key, indent: other }) => (key !== null && other === indent ? [key] : []))
}

function endOf(lines: readonly Line[], ends: (line: Line) => boolean): number {
  const end = lines.findIndex(ends)
  return end === -1 ? lines.length : end
}

/** Lines upwards until the one that starts the item. */
function untilItem(lines: readonly Line[], indent: number): Line[] {
  const start = lines.findIndex((line) => line.startsItem && line.indent === indent)
  return lines.slice(0, start === -1 ? lines.length : start + 1)
}
