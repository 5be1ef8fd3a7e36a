import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { formatCount } from './numbers.ts'

type SectionProps = {
  title: string
  /** How many things the section shows. */
  count?: number | undefined
  /** Controls beside the heading. */
  actions?: ReactNode
  children: ReactNode
}

/** A part of a page with a heading of its own. */
export function Section({ title, count, actions, children }: SectionProps) {
  const id = useId()
  return (
    <Stack component="section" gap="sm" aria-labelledby={id}>
      <Group justify="space-between">
        <Group gap={8} align="baseline">
          <Title order={2} id={id}>
            {title}
          </Title>
          {count !== undefined && (
            <Text span size="sm" c="dimmed">
              {formatCount(count)}
            </Text>
          )}
        </Group>
        {actions}
      </Group>
      {children}
    </Stack>
  )
}
