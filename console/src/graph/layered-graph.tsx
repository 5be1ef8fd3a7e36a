import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import { lazyPart } from '../page/lazy-part.tsx'
import { type GraphEdge, type GraphNode, nodesBefore, usableEdges } from './graph.ts'
import { GraphList } from './graph-list.tsx'

/** A drawing of more nodes or edges tells nobody anything, and its layout takes seconds. */
const NODES_MAX = 200
const EDGES_MAX = 300
const NARROW = '(max-width: 48em)'
const SKELETON_HEIGHT = 180

// The layout is a large library, so it is loaded only where a graph is drawn.
const GraphDrawing = lazyPart(async () => (await import('./graph-drawing.tsx')).GraphDrawing, {
  waiting: () => <Skeleton height={SKELETON_HEIGHT} aria-busy />,
})

type LayeredGraphProps = {
  /** The accessible name: "Jobs". */
  label: string
  nodes: GraphNode[]
  edges: GraphEdge[]
}

/**
 * A graph in layers, from what comes first on the left to what comes last on the right. Give `nodes`
 * and `edges` from `useMemo`, because each new array is laid out again. Edges of unknown nodes are
 * left out, and cycles are fine. On narrow screens, and for large graphs, it is a list.
 */
export function LayeredGraph({ label, nodes, edges }: LayeredGraphProps) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false })
  const usable = useMemo(() => usableEdges(nodes, edges), [nodes, edges])
  const before = useMemo(() => nodesBefore(nodes, usable), [nodes, usable])
  if (isNarrow || nodes.length > NODES_MAX || usable.length > EDGES_MAX)
    return <GraphList label={label} nodes={nodes} before={before} />
  return <GraphDrawing label={label} nodes={nodes} edges={usable} before={before} />
}
