import { Affix, Button, Group, Kbd, Paper, Text, Transition } from '@mantine/core'
import { type RowSelection, SELECTED_MAX } from '../../list/row-selection.ts'
import { formatCount } from '../../page/numbers.ts'

type SelectionBarProps = {
  /** What is selected, in the plural. */
  of: string
  selection: RowSelection
  onDismiss: () => void
  onReopen: () => void
}

/** What can be done with the rows that are selected. */
export function SelectionBar({ of, selection, onDismiss, onReopen }: SelectionBarProps) {
  const count = selection.ids.size
  return (
    <Affix position={{ bottom: 16, left: 0, right: 0 }} style={{ pointerEvents: 'none' }} withinPortal={false}>
      <Transition mounted={count > 0} transition="slide-up" duration={120}>
        {(styles) => (
          <Paper
            role="region"
            aria-label="Selection"
            shadow="lg"
            p="xs"
            mx="auto"
            w="fit-content"
            maw="calc(100vw - 32px)"
            style={{ ...styles, pointerEvents: 'auto' }}
          >
            <Group gap="xs" justify="center">
              <Text size="sm" fw={500} role="status" px={6}>
                {formatCount(count)} {of} selected{count === SELECTED_MAX && ', which is the most at once'}
              </Text>
              <Button
                size="xs"
                rightSection={
                  <Kbd size="xs" aria-hidden>
                    d
                  </Kbd>
                }
                aria-keyshortcuts="d"
                onClick={onDismiss}
              >
                Dismiss
              </Button>
              <Button
                size="xs"
                variant="default"
                rightSection={
                  <Kbd size="xs" aria-hidden>
                    e
                  </Kbd>
                }
                aria-keyshortcuts="e"
                onClick={onReopen}
              >
                Reopen
              </Button>
              <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
                Clear selection
              </Button>
            </Group>
          </Paper>
        )}
      </Transition>
    </Affix>
  )
}
