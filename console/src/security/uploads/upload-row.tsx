import { ActionIcon, Group, Text, Tooltip } from '@mantine/core'
import { IconRefresh, IconX } from '@tabler/icons-react'
import { memo } from 'react'
import { formatSize } from '../../page/numbers.ts'
import { retryUploads } from './start-uploads.ts'
import { ACTIVE_PHASES, isOneOf, type UploadItem } from './upload-item.ts'
import { UploadOutcome } from './upload-outcome.tsx'
import { UploadProgress } from './upload-progress.tsx'
import { removeItems } from './upload-queue.ts'
import classes from './upload-queue-list.module.css'

/** One file of this tab. Only rows whose file has changed are drawn again. */
export const UploadRow = memo(function UploadRow({ item }: { item: UploadItem }) {
  const { path, file, target, failure } = item
  const isActive = isOneOf(ACTIVE_PHASES, item)
  return (
    <li className={classes.row} data-phase={item.phase}>
      <div>
        <Text size="sm" fw={500} lineClamp={2}>
          <bdi>{path}</bdi>
        </Text>
        <Text size="xs" c="dimmed" lineClamp={1}>
          {formatSize(file.size)} · {target.repository}
        </Text>
      </div>
      <div className={classes.state}>{isActive ? <UploadProgress item={item} /> : <UploadOutcome item={item} />}</div>
      <Group gap={2} wrap="nowrap" justify="flex-end">
        {failure?.canRetry && (
          <Tooltip label="Retry">
            <ActionIcon variant="subtle" color="gray" aria-label={`Retry ${path}`} onClick={() => retryUploads([item])}>
              <IconRefresh size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
        <Tooltip label={isActive ? 'Cancel' : 'Remove'}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`${isActive ? 'Cancel' : 'Remove'} ${path}`}
            onClick={() => removeItems([item])}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </li>
  )
})
