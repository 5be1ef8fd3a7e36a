import { Button, Group, Paper, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { IconRefresh, IconX } from '@tabler/icons-react'
import { useSession } from '../../api/session.ts'
import { formatCount } from '../../page/numbers.ts'
import { retryUploads } from './start-uploads.ts'
import { ACTIVE_PHASES, isOneOf, type UploadItem } from './upload-item.ts'
import { removeItems, useUploadQueue } from './upload-queue.ts'
import classes from './upload-queue-list.module.css'
import { UploadRow } from './upload-row.tsx'

/** Longer lists draw only what is on the screen. */
const MANY = 100

/** The files of this tab: how far each is, and how it ended. */
export function UploadQueueList({ org }: { org: string }) {
  const items = useUploadQueue(org, useSession().user.id)
  if (items.length === 0) return <output />
  const active = items.filter((item) => isOneOf(ACTIVE_PHASES, item))
  const failed = items.filter(({ phase, failure }) => phase === 'failed' && failure?.canRetry)
  const ended = items.filter((item) => !active.includes(item))
  return (
    <Paper component="section" aria-label="Your uploads" p="md">
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2}>{active.length > 0 ? 'Uploading' : 'Uploaded'}</Title>
        <Group gap="xs">
          {failed.length > 1 && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconRefresh size={14} aria-hidden />}
              onClick={() => retryUploads(failed)}
            >
              Retry all failed
            </Button>
          )}
          {active.length > 1 && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconX size={14} aria-hidden />}
              onClick={() => removeItems(active)}
            >
              Cancel all
            </Button>
          )}
          {active.length === 0 && (
            <Button size="compact-sm" variant="subtle" color="gray" onClick={() => removeItems(items)}>
              Clear list
            </Button>
          )}
        </Group>
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {describe(items)}
      </Text>
      <VisuallyHidden role="status">
        {active.length === 0 ? describe(items) : `${formatCount(ended.length)} of ${formatCount(items.length)} done`}
      </VisuallyHidden>
      <Stack
        component="ul"
        gap={0}
        className={classes.list}
        data-many={items.length > MANY || undefined}
        tabIndex={0}
        aria-label="Files"
      >
        {items.map((item) => (
          <UploadRow key={item.id} item={item} />
        ))}
      </Stack>
    </Paper>
  )
}

/** "20 files: 18 finished, 1 failed, 1 sent once". */
function describe(items: readonly UploadItem[]): string {
  const count = (phases: readonly UploadItem['phase'][]) => items.filter((item) => isOneOf(phases, item)).length
  const parts: [number, string][] = [
    [count(['finished']), 'finished'],
    [count(['waiting']), 'waiting'],
    [count(['hashing', 'sending', 'reading']), 'in progress'],
    [count(['failed']), 'failed'],
    [count(['duplicate']), 'sent once, because the content is the same'],
  ]
  const shown = parts.filter(([number]) => number > 0).map(([number, name]) => `${formatCount(number)} ${name}`)
  return `${formatCount(items.length)} ${items.length === 1 ? 'file' : 'files'}: ${shown.join(', ')}`
}
