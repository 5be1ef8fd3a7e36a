import { Group, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { SeverityBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import type { SecurityUpload } from './upload-item.ts'
import { findingsSearch, issuesSearch } from './upload-links.ts'

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** What the report contains, and what it changed. */
export function UploadCounts({ org, upload }: { org: string; upload: SecurityUpload }) {
  const { counts, status } = upload
  if (status === 'failed' || status === 'pending') return null
  const isRead = status === 'finished'
  const figures: [label: string, count: number, isKnown: boolean][] = [
    ['Findings', counts.findings, true],
    ['New', counts.created, isRead],
    ['Changed', counts.updated, isRead],
    ['Unchanged', counts.unchanged, isRead],
    ['Fixed', counts.resolved, isRead],
    ['New issues', counts.newIssues, isRead],
    ...(counts.components > 0 ? ([['Components', counts.components, isRead]] as [string, number, boolean][]) : []),
  ]
  return (
    <Paper p="md" component="section" aria-labelledby="result">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="result">
          {isRead ? 'Result' : 'Reading'}
        </Title>
        <Group gap="sm">
          <Link {...pages.findings(org)} search={findingsSearch(upload)} size="sm">
            Findings of this branch
          </Link>
          <Link {...pages.issues(org)} search={issuesSearch(upload)} size="sm">
            Issues of this repository
          </Link>
        </Group>
      </Group>
      <SimpleGrid cols={{ base: 2, xs: 3, md: figures.length }} component="dl" m={0}>
        {figures.map(([label, count, isKnown]) => (
          <div key={label}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text component="dd" m={0} fz="1.25rem" fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
              {isKnown ? formatCount(count) : '—'}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      {isRead && (
        <Group gap="sm" mt="md">
          <Text size="sm" c="dimmed">
            Open on this branch afterwards:
          </Text>
          {SEVERITIES.map((severity) => (
            <Group key={severity} gap={4}>
              <SeverityBadge severity={severity} />
              <Text size="sm">{formatCount(counts.openBySeverity[severity])}</Text>
            </Group>
          ))}
        </Group>
      )}
    </Paper>
  )
}
