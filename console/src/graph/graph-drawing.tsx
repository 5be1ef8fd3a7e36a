import { VisuallyHidden } from '@mantine/core'
import { type CSSProperties, type PointerEvent, type PointerEventHandler, useMemo, useRef } from 'react'
import { ScrollBox } from '../page/sections.tsx'
import type { GraphEdge, GraphNode } from './graph.ts'
import { layOut, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.ts'
import { GraphNodeLink } from './graph-list.tsx'
import classes from './layered-graph.module.css'

const CLICK_PX_MAX = 4

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

type DragScroll = {
  onPointerDown: PointerEventHandler<HTMLElement>
  onPointerMove: PointerEventHandler<HTMLElement>
  onPointerUp: PointerEventHandler<HTMLElement>
  onPointerCancel: PointerEventHandler<HTMLElement>
}

/** Lets a mouse drag the content of a box that scrolls. Fingers and wheels scroll it anyway. */
function useDragScroll(): DragScroll {
  const start = useRef<{ x: number; y: number; left: number; top: number } | null>(null)
  const end = ({ currentTarget, pointerId }: PointerEvent<HTMLElement>) => {
    start.current = null
    if (currentTarget.hasPointerCapture(pointerId)) currentTarget.releasePointerCapture(pointerId)
  }
  return {
    onPointerDown: ({ button, pointerType, clientX, clientY, currentTarget }) => {
      if (pointerType !== 'mouse' || button !== 0) return
      start.current = { x: clientX, y: clientY, left: currentTarget.scrollLeft, top: currentTarget.scrollTop }
    },
    onPointerMove: ({ clientX, clientY, currentTarget, pointerId }) => {
      if (start.current === null) return
      const { x, y, left, top } = start.current
      // A click on a node is no drag: the capture would take the click away from the node.
      if (Math.hypot(clientX - x, clientY - y) > CLICK_PX_MAX) currentTarget.setPointerCapture(pointerId)
      currentTarget.scrollTo(left - (clientX - x), top - (clientY - y))
    },
    onPointerUp: end,
    onPointerCancel: end,
  }
}
