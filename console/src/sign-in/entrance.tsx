import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Logo } from '../page/logo.tsx'
import classes from './entrance.module.css'

type EntranceProps = {
  /** The heading, and the title of the document. */
  title: string
  /** A sentence under the heading. */
  about?: ReactNode
  children: ReactNode
}

/** The frame of the pages that people see before they are signed in. */
export function Entrance({ title, about, children }: EntranceProps) {
  useEffect(() => {
    document.title = `${title} · Shiplock`
  }, [title])
  return (
    <main className={classes.entrance}>
      <Stack className={classes.card} gap="lg">
        <Group gap={10}>
          <Logo size={28} />
          <Text fw={600} size="lg">
            Shiplock
          </Text>
        </Group>
        <Stack gap={6}>
          <Title order={1}>{title}</Title>
          {about && (
            <Text c="dimmed" size="sm" component="div">
              {about}
            </Text>
          )}
        </Stack>
        {children}
      </Stack>
    </main>
  )
}
