import type { GraphEdge } from './graph.ts'

/**
 * Leaves out each edge that a longer path repeats: a → c beside a → b → c. The order that the graph
 * shows stays the same, with far fewer lines. For graphs whose edges mean nothing but an order.
 */
export function reduceEdges(edges: readonly GraphEdge[]): GraphEdge[] {
  const after = new Map<string, Set<string>>()
  for (const { from, to } of edges) after.set(from, (after.get(from) ?? new Set()).add(to))
  return edges.filter(({ from, to }) => {
    const next = after.get(from) as Set<string>
    // Removed while it is checked, so that of two edges that repeat each other one stays.
    next.delete(to)
    if (canReach(after, from, to)) return false
    next.add(to)
    return true
  })
}

function canReach(after: ReadonlyMap<string, Set<string>>, from: string, to: string): boolean {
  const seen = new Set<string>()
  const waiting = [from]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const next = after.get(id)
    if (next?.has(to)) return true
    for (const other of next ?? []) {
      if (seen.has(other)) continue
      seen.add(other)
      waiting.push(other)
    }
  }
  return false
}
