import { VisuallyHidden } from '@mantine/core'
import { type CSSProperties, useMemo } from 'react'
import { ScrollBox } from '../page/scroll-box.tsx'
import type { GraphEdge, GraphNode } from './graph.ts'
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.ts'
import { GraphNodeLink } from './graph-node-link.tsx'
import classes from './layered-graph.module.css'
import { useDragScroll } from './use-drag-scroll.ts'

type GraphDrawingProps = {
  label: string
  nodes: GraphNode[]
  edges: GraphEdge[]
  before: ReadonlyMap<string, GraphNode[]>
}

/**
 * The graph as a picture that scrolls in its box. To a screen reader and the keyboard, it is a list
 * in which each node names those before it.
 */
export function GraphDrawing({ label, nodes, edges, before }: GraphDrawingProps) {
  const drag = useDragScroll()
  const { width, height, places, paths } = useMemo(() => layOut(nodes, edges), [nodes, edges])
  return (
    <ScrollBox label={label} className={classes.box} {...drag}>
      <div className={classes.canvas} style={{ width, height }}>
        <svg width={width} height={height} aria-hidden className={classes.edges}>
          {paths.map((path, index) => (
            <path key={index} d={path} />
          ))}
        </svg>
        <ol className={classes.nodes}>
          {nodes.map((node, index) => (
            <li key={node.id} style={placeStyle(places[index])}>
              <GraphNodeLink href={node.href} className={classes.node} title={node.label}>
                <NodeText node={node} before={before.get(node.id) ?? []} />
              </GraphNodeLink>
            </li>
          ))}
        </ol>
      </div>
    </ScrollBox>
  )
}

function NodeText({ node: { label, detail, tone, icon: Icon }, before }: { node: GraphNode; before: GraphNode[] }) {
  return (
    <>
      <span className={classes.icon} style={{ color: `var(--shiplock-${tone})` }}>
        <Icon size={18} aria-hidden />
      </span>
      <span className={classes.text}>
        <span className={classes.label}>
          <bdi>{label}</bdi>
        </span>
        {detail && <span className={classes.detail}>{detail}</span>}
      </span>
      {before.length > 0 && <VisuallyHidden>, after {before.map((other) => other.label).join(', ')}</VisuallyHidden>}
    </>
  )
}

function placeStyle(place: { x: number; y: number } | undefined): CSSProperties {
  return { left: place?.x, top: place?.y, width: NODE_WIDTH, height: NODE_HEIGHT }
}
