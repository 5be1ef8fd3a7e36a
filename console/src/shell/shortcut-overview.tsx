import { Group, Modal, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useKnownShortcuts } from '../actions/shortcuts.ts'
import { Keys } from './keys.tsx'

/** The keyboard shortcuts of what is on the screen. */
export function ShortcutOverview({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const byTitle = Map.groupBy(useKnownShortcuts(), ({ title }) => title)
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="xl">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={40} verticalSpacing="lg">
        {[...byTitle].map(([title, groups]) => (
          <Stack key={title} gap={6} component="section">
            <Title order={3}>{title}</Title>
            {groups
              .flatMap(({ shortcuts }) => shortcuts)
              .map(({ keys, label }) => (
                <Group key={keys} justify="space-between" wrap="nowrap">
                  <Text size="sm">{label}</Text>
                  <Keys keys={keys} />
                </Group>
              ))}
          </Stack>
        ))}
      </SimpleGrid>
    </Modal>
  )
}
