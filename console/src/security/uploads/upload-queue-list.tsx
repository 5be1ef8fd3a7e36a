import { ActionIcon, Button, Group, Paper, Progress, Stack, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconCopy, IconRefresh, IconX } from '@tabler/icons-react'
import { memo } from 'react'
import { useSession } from '../../api/session.ts'
import { StatusBadge, ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount, formatPercent, formatSize } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { findingsSearch, issuesSearch } from '../sending/download-button.tsx'
import { retryUploads } from '../sending/start-uploads.ts'
import { ACTIVE_PHASES, isOneOf, type SecurityUpload, type UploadItem } from '../sending/upload-item.ts'
import { removeItems, useUploadQueue } from '../sending/upload-queue.ts'
import classes from './upload-queue-list.module.css'

/** Longer lists draw only what is on the screen. */
const MANY = 100

/** One file of this tab. Only rows whose file has changed are drawn again. */
const UploadRow = memo(function UploadRow({ item }: { item: UploadItem }) {
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

const PHASES = ['hashing', 'sending', 'reading'] as const
const NAMES = { hashing: 'Hashing', sending: 'Sending', reading: 'Reading' } as const

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
        {describeQueue(items)}
      </Text>
      <VisuallyHidden role="status">
        {active.length === 0
          ? describeQueue(items)
          : `${formatCount(ended.length)} of ${formatCount(items.length)} done`}
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
function describeQueue(items: readonly UploadItem[]): string {
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

/** Three bars: the browser hashes the file, sends it, and the server reads it. */
function UploadProgress({ item }: { item: UploadItem }) {
  const { phase, path, notice } = item
  const current = (PHASES as readonly string[]).indexOf(phase)
  return (
    <>
      <div className={classes.bars}>
        {PHASES.map((name, index) => (
          <div key={name}>
            <Text size="xs" className={classes.phase} data-current={index === current || undefined}>
              {NAMES[name]}
            </Text>
            <Progress
              size={5}
              mt={3}
              value={percentOf(item, index - current, name)}
              animated={name === 'reading' && index === current}
              aria-label={`${NAMES[name]} ${path}`}
            />
          </div>
        ))}
      </div>
      <Text size="xs" c="dimmed" mt={4}>
        {notice ?? describeProgress(item)}
      </Text>
    </>
  )
}

/** How long a report is, is not known before it has been read. */
function percentOf({ doneBytes, file, phase }: UploadItem, distance: number, name: string): number {
  if (phase === 'waiting' || distance > 0) return 0
  if (distance < 0 || name === 'reading') return 100
  return Math.round((100 * doneBytes) / Math.max(file.size, 1))
}

function describeProgress({ phase, doneBytes, file, upload }: UploadItem): string {
  if (phase === 'waiting') return 'Waiting'
  const done = `${formatPercent(Math.floor((100 * doneBytes) / file.size) / 100)} of ${formatSize(file.size)}`
  if (phase === 'hashing') return `Computing the checksum: ${done}`
  if (phase === 'sending') return `Sending: ${done}`
  if (upload?.status === 'parsing') return `Reading: ${formatCount(upload.counts.findings)} findings so far`
  return 'Waiting for a worker to read it'
}

/** How the upload of a file ended, and where its result is. */
function UploadOutcome({ item }: { item: UploadItem }) {
  const { phase, failure, twin, upload, org } = item
  if (phase === 'duplicate')
    return (
      <Stack gap={4} align="flex-start">
        <ToneBadge tone="neutral" icon={IconCopy}>
          Sent once
        </ToneBadge>
        <Text size="sm" lineClamp={2}>
          Same content as <bdi>{twin}</bdi>.
        </Text>
      </Stack>
    )
  if (failure)
    return (
      <Stack gap={4} align="flex-start" role="alert">
        <Group gap="xs">
          <StatusBadge status="failed" />
          <Text size="sm" fw={500}>
            {failure.title}
          </Text>
        </Group>
        <Text size="sm" lineClamp={4}>
          {failure.advice}
        </Text>
      </Stack>
    )
  if (!upload) return null
  return (
    <Stack gap={4} align="flex-start">
      <Group gap="xs">
        <StatusBadge status="finished" />
        <Text size="sm">{describeOutcome(upload)}</Text>
      </Group>
      <Group gap="sm">
        <Link {...pages.upload(org, upload.id)} size="sm">
          Details
        </Link>
        <Link {...pages.findings(org)} search={findingsSearch(upload)} size="sm">
          Findings
        </Link>
        {upload.counts.newIssues > 0 && (
          <Link {...pages.issues(org)} search={issuesSearch(upload)} size="sm">
            Issues
          </Link>
        )}
      </Group>
    </Stack>
  )
}

/** "12 findings: 3 new, 1 fixed, 2 new issues". */
function describeOutcome({ counts }: SecurityUpload): string {
  const changes: [number, string][] = [
    [counts.created, 'new'],
    [counts.updated, 'changed'],
    [counts.resolved, 'fixed'],
    [counts.newIssues, counts.newIssues === 1 ? 'new issue' : 'new issues'],
  ]
  const shown = changes.filter(([count]) => count > 0).map(([count, name]) => `${formatCount(count)} ${name}`)
  const total = [
    countOf(counts.findings, 'finding'),
    ...(counts.components ? [countOf(counts.components, 'component')] : []),
  ]
  return `${total.join(', ')}${shown.length > 0 ? `: ${shown.join(', ')}` : ''}`
}

function countOf(count: number, name: string): string {
  return `${formatCount(count)} ${name}${count === 1 ? '' : 's'}`
}
