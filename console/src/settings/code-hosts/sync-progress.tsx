import { Alert, Group, Progress, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { formatCount } from '../../page/numbers.ts'
import { Time } from '../../page/time.tsx'
import { type Connection, phaseText } from './connection.ts'

type SyncProgressProps = { sync: Connection['sync']; lastSyncedAt: string | null }

/** How far the synchronization is, or when the last one ended. */
export function SyncProgress({ sync, lastSyncedAt }: SyncProgressProps) {
  const { state, phase, done, total, error } = sync
  if (state === 'running') return <Running text={phaseText(phase)} done={done} total={total} />
  return (
    <Stack gap="xs">
      {state === 'failed' && (
        <Alert color="red" variant="light" icon={<IconAlertTriangle />} title="The last synchronization failed">
          {error ?? 'The code host did not say why.'} It is tried again by itself.
        </Alert>
      )}
      <Text size="sm" c="dimmed" component="div">
        {lastSyncedAt === null ? 'Not synchronized yet' : 'Synchronized '}
        {lastSyncedAt !== null && <Time at={lastSyncedAt} />}
      </Text>
    </Stack>
  )
}

type RunningProps = { text: string; done: number | null; total: number | null }

function Running({ text, done, total }: RunningProps) {
  const isCounted = done !== null && total !== null && total > 0
  const share = isCounted ? Math.min((done / total) * 100, 100) : 100
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{text}</Text>
        {done !== null && (
          <Text size="sm" c="dimmed" ff="text" style={{ fontVariantNumeric: 'tabular-nums' }}>
            {formatCount(done)}
            {total !== null && ` of ${formatCount(total)}`} repositories
          </Text>
        )}
      </Group>
      <Progress value={share} animated={!isCounted} aria-label={text} size="sm" />
    </Stack>
  )
}
