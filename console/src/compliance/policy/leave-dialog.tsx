import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'

/** Asks before the page of a changed file is left. */
export function LeaveDialog({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title="Leave without applying?">
      <Stack>
        <Text size="sm">
          Your changes are not applied. They are kept in this browser tab, so that you can go on later.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => reset?.()} data-autofocus>
            Stay
          </Button>
          <Button onClick={() => proceed?.()}>Leave</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
