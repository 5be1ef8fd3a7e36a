import { Group, Stack, Text } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import { StatusBadge, ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { describeOutcome } from './describe-outcome.ts'
import type { UploadItem } from './upload-item.ts'
import { findingsSearch, issuesSearch } from './upload-links.ts'

/** How the upload of a file ended, and where its result is. */
export function UploadOutcome({ item }: { item: UploadItem }) {
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
