import { Group, Kbd, Text } from '@mantine/core'
import { Fragment } from 'react'
import { MOD_KEY } from '../actions/shortcuts.ts'

const NAMES: Record<string, string> = { mod: MOD_KEY, ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' }

/** Keys as they are written on keyboards: `g r` is "g then r", `mod+k` is "Ctrl K". */
export function Keys({ keys }: { keys: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      {keys.split(' ').map((together, index) => (
        <Fragment key={together}>
          {index > 0 && (
            <Text span size="xs" c="dimmed">
              then
            </Text>
          )}
          {together.split('+').map((key) => (
            <Kbd key={key} size="xs">
              {NAMES[key] ?? (together.includes('+') ? key.toUpperCase() : key)}
            </Kbd>
          ))}
        </Fragment>
      ))}
    </Group>
  )
}
