/**
 * The selected parts of a document, as a tree that is walked along with the text.
 *
 * A path names members, with `[*]` for every element of an array and `*` for every member of an
 * object: `runs[*].tool.driver.name`, `runs[*].originalUriBaseIds`, `*`. A path that ends in
 * `:type` yields the JSON type of the value ('object', 'array', 'string', 'number', 'boolean' or
 * 'null') without reading it. A path that ends in `[*]:span` yields the positions of the elements,
 * several at a time, for `readSpans`.
 */
export type SelectionNode = {
  members: Map<string, SelectionNode>
  anyMember: SelectionNode | null
  element: SelectionNode | null
  /** The path whose value is selected, and the one whose type is. */
  valuePath: string | null
  typePath: string | null
  /** The path of elements whose positions are selected. */
  spanPath: string | null
  /**
   * Members of the selected object that are replaced by null, so that their bytes are never kept.
   */
  omitted: Set<string>
}

/** Builds the tree. `omit` lists, by path, members of a selected object that are read as null. */
export function createSelectionTree(
  paths: readonly string[],
  omit: Record<string, readonly string[]> = {},
): SelectionNode {
  const root = newNode()
  for (const path of paths) {
    const [location = '', wanted] = path.split(':')
    let node = root
    for (const step of location.split(/\.|(?=\[\*\])/).filter((part) => part !== '')) node = child(node, step)
    if (wanted === 'type') node.typePath = path
    else if (wanted === 'span') node.spanPath = path
    else node.valuePath = path
    for (const member of omit[path] ?? []) node.omitted.add(member)
  }
  return root
}

function child(node: SelectionNode, step: string): SelectionNode {
  if (step === '[*]') {
    node.element ??= newNode()
    return node.element
  }
  if (step === '*') {
    node.anyMember ??= newNode()
    return node.anyMember
  }
  const known = node.members.get(step) ?? newNode()
  node.members.set(step, known)
  return known
}

function newNode(): SelectionNode {
  return {
    members: new Map(),
    anyMember: null,
    element: null,
    valuePath: null,
    typePath: null,
    spanPath: null,
    omitted: new Set(),
  }
}

/**
 * The position of one or more adjacent elements of an array: from byte `from` to byte `to`
 * (exclusive).
 */
export type JsonSpan = { from: number; to: number }
