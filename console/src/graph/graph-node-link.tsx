import { useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import { isWebAddress } from '../page/link.tsx'

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
