import { Graph, layout } from '@dagrejs/dagre'
import type { GraphEdge, GraphNode } from './graph.ts'

export const NODE_WIDTH = 188
export const NODE_HEIGHT = 52
const LAYER_GAP = 40
const NODE_GAP = 14
const MARGIN = 16

type GraphLayout = {
  width: number
  height: number
  /** The left upper corners of the nodes, in the order of the nodes. */
  places: { x: number; y: number }[]
  /** The `d` of an SVG path for each edge. */
  paths: string[]
}

/** Places the nodes in layers from left to right. Cycles are drawn with an edge that goes back. */
export function layOut(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphLayout {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', ranksep: LAYER_GAP, nodesep: NODE_GAP, marginx: MARGIN, marginy: MARGIN })
  // The library gets numbers for names: names of strangers, such as `__proto__`, break its tables.
  const keys = new Map(nodes.map(({ id }, index) => [id, String(index)]))
  const keyOf = (id: string) => keys.get(id) as string
  for (const key of keys.values()) graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT })
  for (const { from, to } of edges) graph.setEdge(keyOf(from), keyOf(to), {})
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  const centerOf = (id: string) => graph.node(keyOf(id)) as Point
  const columns = new Set(nodes.map(({ id }) => centerOf(id).x))
  return {
    width,
    height,
    places: nodes.map(({ id }) => ({ x: centerOf(id).x - NODE_WIDTH / 2, y: centerOf(id).y - NODE_HEIGHT / 2 })),
    paths: edges.map(({ from, to }) => {
      const { points } = graph.edge(keyOf(from), keyOf(to)) as { points: Point[] }
      const [start, end] = [centerOf(from), centerOf(to)]
      if (start.x >= end.x) return smoothPath(points)
      const between = points.filter(({ x }) => x > start.x && x < end.x && columns.has(x))
      return smoothPath([rightOf(start), ...between.flatMap((point) => [leftOf(point), rightOf(point)]), leftOf(end)])
    }),
  }
}

type Point = { x: number; y: number }

function rightOf({ x, y }: Point): Point {
  return { x: x + NODE_WIDTH / 2, y }
}

function leftOf({ x, y }: Point): Point {
  return { x: x - NODE_WIDTH / 2, y }
}

/** A curve that leaves and reaches each point horizontally. */
function smoothPath([start, ...rest]: Point[]): string {
  if (start === undefined) return ''
  let path = `M${start.x},${start.y}`
  let last = start
  for (const point of rest) {
    const middle = (last.x + point.x) / 2
    path += `C${middle},${last.y} ${middle},${point.y} ${point.x},${point.y}`
    last = point
  }
  return path
}

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
