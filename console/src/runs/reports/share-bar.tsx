import { Box, Group, Text } from '@mantine/core'
import type { Tone } from '../../page/badges.tsx'
import { formatCount } from '../../page/numbers.ts'

type ShareBarProps = { parts: readonly { label: string; count: number; tone: Tone }[] }

/** Counts as parts of a bar, each with its number and name below. */
export function ShareBar({ parts }: ShareBarProps) {
  const shown = parts.filter(({ count }) => count > 0)
  return (
    <Box>
      <Group gap={2} wrap="nowrap" h={8} aria-hidden style={{ overflow: 'hidden', borderRadius: 4 }}>
        {shown.map(({ label, count, tone }) => (
          <Box key={label} h="100%" miw={3} bg={`var(--shiplock-${tone})`} style={{ flex: `${count} 1 0` }} />
        ))}
        {shown.length === 0 && <Box h="100%" flex={1} bg="var(--shiplock-border)" />}
      </Group>
      <Group gap="md" mt={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {parts.map(({ label, count, tone }) => (
          <Group key={label} gap={6} component="li">
            <Box w={8} h={8} bg={`var(--shiplock-${tone})`} style={{ borderRadius: 2 }} aria-hidden />
            <Text size="sm" c={count === 0 ? 'dimmed' : undefined}>
              <b>{formatCount(count)}</b> {label}
            </Text>
          </Group>
        ))}
      </Group>
    </Box>
  )
}
