import { Burger, VisuallyHidden } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import classes from './app-frame.module.css'
import { BackgroundWork } from './background-work.tsx'
import { UserMenu } from './menus.tsx'

type AppFrameProps = {
  /** Above the links of the sidebar, and in the header of a narrow screen. */
  top: ReactNode
  /** The links of the sidebar. */
  links: ReactNode
  children: ReactNode
}

/** The frame around every page of somebody who is signed in: skip link, sidebar, content. */
export function AppFrame({ top, links, children }: AppFrameProps) {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // The page for which the menu of a narrow screen was opened: it closes when another page opens.
  const [openedOn, setOpenedOn] = useState<string | null>(null)
  const opened = openedOn === path
  return (
    <div className={classes.frame}>
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <Burger
          opened={opened}
          onClick={() => setOpenedOn(opened ? null : path)}
          size="sm"
          aria-label="Navigation"
          aria-expanded={opened}
          aria-controls="sidebar"
        />
        {top}
      </header>
      <nav id="sidebar" aria-label="Main" className={classes.sidebar} data-opened={opened}>
        <div className={classes.top}>{top}</div>
        <div className={classes.links}>{links}</div>
        <UserMenu />
      </nav>
      <main id="content" tabIndex={-1} className={classes.main}>
        {children}
      </main>
      <BackgroundWork path={path} />
    </div>
  )
}

/**
 * Screen readers announce a document when it is loaded. Pages here replace each other in one
 * document, so their titles are announced instead.
 */
export function PageAnnouncer() {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const [first] = useState(path)
  const [title, setTitle] = useState('')
  useEffect(() => {
    if (path === first && title === '') return
    // The page sets its title in an effect of the same update.
    const frame = requestAnimationFrame(() => setTitle(document.title))
    return () => cancelAnimationFrame(frame)
  }, [path, first, title])
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {title}
    </VisuallyHidden>
  )
}
