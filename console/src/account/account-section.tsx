import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type AccountSectionProps = {
  id: string
  title: string
  description: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of the account page, with an address of its own. */
export function AccountSection({ id, title, description, actions, children }: AccountSectionProps) {
  return (
    <Stack component="section" id={id} aria-labelledby={`${id}-title`} gap="sm" style={{ scrollMarginTop: 72 }}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Stack gap={2} flex="1 1 320px">
          <Title order={2} id={`${id}-title`}>
            {title}
          </Title>
          <Text size="sm" c="dimmed" component="div">
            {description}
          </Text>
        </Stack>
        {actions}
      </Group>
      <Paper p="md">{children}</Paper>
    </Stack>
  )
}
