import { Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core'
import { createLink, type LinkComponent } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, forwardRef, type ReactNode, useEffect } from 'react'
import classes from './page.module.css'

const TabElement = forwardRef<HTMLAnchorElement, AnchorHTMLAttributes<HTMLAnchorElement>>((props, ref) => (
  <a ref={ref} {...props} className={classes.tab} />
))

/** A link of `<PageTabs>`. */
export const PageTab: LinkComponent<typeof TabElement> = createLink(TabElement)

type PageProps = {
  /** The heading, and the title of the document. */
  title: string
  /** Shown in place of `title` where the heading holds more than text. */
  heading?: ReactNode
  /** One sentence under the heading. */
  description?: ReactNode
  /** Links to the pages above this one. */
  breadcrumbs?: ReactNode
  /** Buttons beside the heading. */
  actions?: ReactNode
  children: ReactNode
}

/** The frame of every page: breadcrumbs, one `<h1>`, actions, content. */
export function Page({ title, heading, description, breadcrumbs, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Shiplock`
  }, [title])
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        {breadcrumbs && (
          <Breadcrumbs component="nav" aria-label="Breadcrumbs" separatorMargin={6}>
            {breadcrumbs}
          </Breadcrumbs>
        )}
        <Group justify="space-between" align="flex-start" gap="sm">
          <Title order={1} style={{ minWidth: 0 }}>
            {heading ?? title}
          </Title>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
        {description && (
          <Text c="dimmed" size="sm" maw="88ch" mt={actions ? 4 : 0} style={{ textWrap: 'pretty' }}>
            {description}
          </Text>
        )}
      </Stack>
      {children}
    </Stack>
  )
}

/** Switches between the pages of one topic, which look like tabs. */
export function PageTabs({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group component="nav" aria-label={label} gap={4} className={classes.tabs}>
      {children}
    </Group>
  )
}

/** The mark of Shiplock: a gate above a waterline. Decorative, because its name always stands beside it. */
export function Logo({ size }: { size: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#2f5fd0" />
      <path d="M9 20.5 16 9l7 11.5Z" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinejoin="round" />
      <path d="M8 24.5h16" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    </svg>
  )
}
