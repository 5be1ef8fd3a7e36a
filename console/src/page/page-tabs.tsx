import { Group } from '@mantine/core'
import { createLink, type LinkComponent } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, forwardRef, type ReactNode } from 'react'
import classes from './page-tabs.module.css'

/** Switches between the pages of one topic, which look like tabs. */
export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group component="nav" aria-label={label} gap={4} className={classes.tabs}>
      {children}
    </Group>
  )
}

const TabElement = forwardRef<HTMLAnchorElement, AnchorHTMLAttributes<HTMLAnchorElement>>((props, ref) => (
  <a ref={ref} {...props} className={classes.tab} />
))

/** A link of `<PageTabs>`. */
export const PageTab: LinkComponent<typeof TabElement> = createLink(TabElement)
