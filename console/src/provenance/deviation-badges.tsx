import { Box, Group, Text, Tooltip } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ToneBadge } from '../page/badges.tsx'
import { DEVIATION_WORDS, type Deviation } from './change-words.ts'

/** How a change deviates from a reviewed and checked merge. Hover or focus explains each. */
export function DeviationBadges({ deviations }: { deviations: readonly Deviation[] }) {
  if (deviations.length === 0)
    return (
      <Text span size="sm" c="dimmed">
        No deviation
      </Text>
    )
  return (
    <Group gap={4}>
      {deviations.map((deviation) => (
        <Tooltip key={deviation} label={DEVIATION_WORDS[deviation][1]} multiline maw={280}>
          {/* Focusable, so that the explanation can be read without a mouse. */}
          <Box component="span" tabIndex={0} lh={1}>
            <ToneBadge tone="waiting" icon={IconAlertTriangle}>
              {DEVIATION_WORDS[deviation][0]}
            </ToneBadge>
          </Box>
        </Tooltip>
      ))}
    </Group>
  )
}
