import { useRouter } from '@tanstack/react-router'
import { type MouseEvent, type ReactNode, useMemo } from 'react'
import { isWebAddress } from '../page/link.tsx'
import { ScrollBox } from '../page/sections.tsx'
import { type GraphNode, inOrder } from './graph.ts'
import classes from './layered-graph.module.css'

const NAMES_MAX = 4

type GraphListProps = { label: string; nodes: GraphNode[]; before: ReadonlyMap<string, GraphNode[]> }

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

type GraphNodeLinkProps = { href: string | undefined; className?: string; title?: string; children: ReactNode }

/** A node that opens what its address names, or one that does nothing. */
export function GraphNodeLink({ href, children, ...props }: GraphNodeLinkProps) {
  const { history } = useRouter()
  const isElsewhere = isWebAddress(href ?? null)
  if (href === undefined || !(isElsewhere || /^[/#]/.test(href))) return <div {...props}>{children}</div>
  const open = (event: MouseEvent) => {
    const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
    if (opensElsewhere || !href.startsWith('/')) return
    event.preventDefault()
    history.push(href)
  }
  return (
    <a
      href={href}
      onClick={open}
      draggable={false}
      {...(isElsewhere && { target: '_blank', rel: 'noreferrer noopener' })}
      {...props}
    >
      {children}
    </a>
  )
}
