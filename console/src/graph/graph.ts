import type { Icon, Tone } from '../page/badges.tsx'

/** A node of a layered graph. */
export type GraphNode = {
  /** Unique within the graph. */
  id: string
  label: string
  /** A second line. It should say in words what the colour says: "Failed · 2 min". */
  detail?: string
  tone: Tone
  icon: Icon
  /** A page of the console, a place on this page or another site: `/orgs/acme/runs/run_1`, `#build`. */
  href?: string
}

/** `to` comes after `from`. */
export type GraphEdge = { from: string; to: string }

/**
 * The edges that can be drawn: between two nodes of the graph, each once. Graphs come from files of
 * strangers, so an edge may name what does not exist.
 */
export function usableEdges(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphEdge[] {
  const ids = new Set(nodes.map(({ id }) => id))
  const usable = edges.filter(({ from, to }) => from !== to && ids.has(from) && ids.has(to))
  return [...new Map(usable.map((edge) => [JSON.stringify([edge.from, edge.to]), edge])).values()]
}

/** What comes directly before each node, by its id. */
export function nodesBefore(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, GraphNode[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const before = new Map<string, GraphNode[]>(nodes.map(({ id }) => [id, []]))
  for (const { from, to } of edges) before.get(to)?.push(byId.get(from) as GraphNode)
  return before
}

/** The nodes in an order in which each comes after those before it, as far as there is no cycle. */
export function inOrder(nodes: readonly GraphNode[], before: ReadonlyMap<string, GraphNode[]>): GraphNode[] {
  const ordered: GraphNode[] = []
  const seen = new Set<string>()
  // A stack of its own: a chain of thousands of nodes must not overflow that of the language.
  const stack: { node: GraphNode; isExpanded: boolean }[] = []
  for (const root of nodes) {
    stack.push({ node: root, isExpanded: false })
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (top.isExpanded) ordered.push(top.node)
      else if (!seen.has(top.node.id)) {
        seen.add(top.node.id)
        stack.push({ node: top.node, isExpanded: true })
        for (const earlier of (before.get(top.node.id) ?? []).toReversed())
          stack.push({ node: earlier, isExpanded: false })
      }
    }
  }
  return ordered
}
