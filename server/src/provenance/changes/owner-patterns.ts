/** The patterns that begin with the same path segments. */
type Node = {
  /** Whether this node's segment is `**`, which matches any number of segments. */
  isDeep: boolean
  /** The children that are not `*` or `**`, by the parts of their segments. */
  named: Map<string, Node>
  /** Those of them that have a `*` or `?`, and the characters that each one needs. */
  globs: { parts: string[]; node: Node }[]
  characters: number[]
  /** The globs' nodes that match a segment which was looked up. */
  matching: Map<string, readonly Node[]>
  /** The child `*`. */
  any: Node | null
  /** The child `**`. */
  deep: Node | null
  /** The last pattern that ends here, and the last one that ends here or below. -1 for none. */
  own: number
  last: number
}

/** The patterns of a CODEOWNERS file, as a tree of path segments. */
type PatternTree = Node

/** Stands for `?` in the parts of a glob. No path contains it. */
const ANY_CHARACTER = '\0'
/** Separates parts in keys. No pattern contains it. */
const STAR = '\n'
const SEGMENT = /(?:\\.|[^\\/])+/gu
const SEGMENT_TOKEN = /\\.|\*+|[^\\*]/gu

/**
 * Builds the tree of valid patterns. A path visits only the nodes that its segments match, so that
 * the time for a path hardly depends on the number of patterns.
 */
export function createPatternTree(patterns: readonly string[]): PatternTree {
  const root = newNode()
  for (const [index, pattern] of patterns.entries()) {
    const end = splitPattern(pattern).reduce((node, segment) => {
      node.last = index
      return getChild(node, segment)
    }, root)
    end.own = index
    end.last = index
  }
  return root
}

/** How many comparisons are left. Patterns and paths can be written so that they need very many. */
export type MatchBudget = { comparisons: number }

/**
 * The index of the last pattern that matches a path such as `docs/index.md`. -1 if none does. The
 * result is unknown if the budget is used up.
 */
export function matchPath(tree: PatternTree, path: string, budget: MatchBudget): number {
  const segments = path.split('/')
  let best = -1
  let active = enter(new Set(), tree)
  for (const [index, segment] of segments.entries()) {
    const next = new Set<Node>()
    for (const node of active) {
      if (node.last <= best) continue
      budget.comparisons -= 1 + node.globs.length
      if (budget.comparisons < 0) return -1
      if (node.isDeep) {
        best = Math.max(best, node.own)
        next.add(node)
      }
      for (const child of namedChildren(node, segment, best)) {
        best = Math.max(best, child.own)
        enter(next, child)
      }
      if (node.any === null) continue
      if (index === segments.length - 1) best = Math.max(best, node.any.own)
      enter(next, node.any)
    }
    active = next
  }
  return best
}

/** Adds a node, and the `**` after it, which also matches no segment at all. */
function enter(active: Set<Node>, node: Node): Set<Node> {
  active.add(node)
  return node.deep === null ? active : enter(active, node.deep)
}

/** A pattern that matches a directory matches everything in it, unless it ends with `*`. */
function namedChildren(node: Node, segment: string, best: number): Node[] {
  const literal = node.named.get(segment)
  const found = literal === undefined ? [] : [literal]
  if (node.globs.length === 0) return found
  for (const matching of matchGlobs(node, segment)) {
    if (matching.last > best) found.push(matching)
  }
  return found
}

/** Directories and names that paths have in common are compared once. */
function matchGlobs({ globs, characters, matching }: Node, segment: string): readonly Node[] {
  const known = matching.get(segment)
  if (known !== undefined) return known
  const found: Node[] = []
  const missing = ~encodeCharacters([segment])
  for (let index = 0; index < globs.length; index++) {
    if (((characters[index] as number) & missing) !== 0) continue
    const { parts, node } = globs[index] as Node['globs'][number]
    if (matchesParts(parts, segment)) found.push(node)
  }
  matching.set(segment, found)
  return found
}

/** A pattern without a slash, except at its end, matches in every directory. */
function splitPattern(pattern: string): string[] {
  const segments = pattern.match(SEGMENT) ?? []
  const isAnchored = pattern.startsWith('/') || segments.length > 1
  return [...(isAnchored ? [] : ['**']), ...segments, ...(pattern.endsWith('/') ? ['**'] : [])]
}

function getChild(parent: Node, segment: string): Node {
  const parts = splitSegment(segment)
  if (segment === '**') {
    parent.deep ??= { ...newNode(), isDeep: true }
    return parent.deep
  }
  if (parts.every((part) => part === '')) {
    parent.any ??= newNode()
    return parent.any
  }
  const key = parts.join(STAR)
  const node = parent.named.get(key) ?? newNode()
  if (parent.named.has(key)) return node
  parent.named.set(key, node)
  if (parts.length > 1 || key.includes(ANY_CHARACTER)) {
    parent.globs.push({ parts, node })
    parent.characters.push(encodeCharacters(parts))
  }
  return node
}

function newNode(): Node {
  return {
    isDeep: false,
    named: new Map(),
    globs: [],
    characters: [],
    matching: new Map(),
    any: null,
    deep: null,
    own: -1,
    last: -1,
  }
}

/** The texts between the stars of a segment, without escapes. */
function splitSegment(segment: string): string[] {
  const parts = ['']
  for (const token of segment.match(SEGMENT_TOKEN) ?? []) {
    if (token.startsWith('*')) parts.push('')
    else parts.push(`${parts.pop()}${token === '?' ? ANY_CHARACTER : token.replace(/^\\/, '')}`)
  }
  return parts
}

/** The characters of texts as bits. Some characters share a bit. It excludes most globs at once. */
function encodeCharacters(texts: readonly string[]): number {
  let bits = 0
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code !== 0) bits |= 1 << (code < 58 ? code % 10 : 10 + (code % 22))
    }
  }
  return bits
}

/** Finds each part at its first possible position, so that no position is tried twice. */
function matchesParts(parts: readonly string[], text: string): boolean {
  const first = parts[0] as string
  const last = parts.at(-1) as string
  if (parts.length === 1) return text.length === first.length && isAt(first, text, 0)
  const end = text.length - last.length
  if (end < first.length || !isAt(first, text, 0) || !isAt(last, text, end)) return false
  let at = first.length
  for (let index = 1; index < parts.length - 1; index++) {
    const part = parts[index] as string
    const { length } = part
    const start = part.charCodeAt(0)
    while (at + length <= end && ((start !== 0 && start !== text.charCodeAt(at)) || !isAt(part, text, at))) at++
    at += length
    if (at > end) return false
  }
  return true
}

function isAt(part: string, text: string, at: number): boolean {
  for (let index = 0; index < part.length; index++) {
    const code = part.charCodeAt(index)
    if (code !== 0 && code !== text.charCodeAt(at + index)) return false
  }
  return true
}
