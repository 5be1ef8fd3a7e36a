import { Button, Group, Stack, Text } from '@mantine/core'

/** The App of the environment: only GitHub knows its page. */
export function OperatorsApp({ onClose }: { onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        The operator of this server has set its GitHub App. Open the App on GitHub (Settings, Developer settings, GitHub
        Apps), install it in the account, and come back: the installation is then shown on this page.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}
