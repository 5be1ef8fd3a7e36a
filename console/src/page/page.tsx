import { Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

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
