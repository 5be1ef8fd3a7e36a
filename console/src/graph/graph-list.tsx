import { useMemo } from 'react'
import { ScrollBox } from '../page/scroll-box.tsx'
import { type GraphNode, inOrder } from './graph.ts'
import { GraphNodeLink } from './graph-node-link.tsx'
import classes from './layered-graph.module.css'

type GraphListProps = { label: string; nodes: GraphNode[]; before: ReadonlyMap<string, GraphNode[]> }

const NAMES_MAX = 4

/** The graph as a list, in an order in which each node comes after those before it. */
export function GraphList({ label, nodes, before }: GraphListProps) {
  const ordered = useMemo(() => inOrder(nodes, before), [nodes, before])
  return (
    <ScrollBox label={label} className={classes.list}>
      <ol className={classes.rows}>
        {ordered.map(({ id, label: name, detail, tone, icon: Icon, href }) => (
          <li key={id}>
            <GraphNodeLink href={href} className={classes.row}>
              <span className={classes.icon} style={{ color: `var(--shiplock-${tone})` }}>
                <Icon size={18} aria-hidden />
              </span>
              <span className={classes.text}>
                <span className={classes.label} title={name}>
                  <bdi>{name}</bdi>
                </span>
                <span className={classes.detail}>
                  {[detail, afterText(before.get(id) ?? [])].filter(Boolean).join(' · ')}
                </span>
              </span>
            </GraphNodeLink>
          </li>
        ))}
      </ol>
    </ScrollBox>
  )
}

function afterText(nodes: GraphNode[]): string {
  if (nodes.length === 0) return ''
  const names = nodes.slice(0, NAMES_MAX).map(({ label }) => label)
  const rest = nodes.length - names.length
  return `after ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
