import { Stack, Text } from '@mantine/core'
import type { Column } from '../../list/data-list.tsx'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Time } from '../../page/time.tsx'
import { placeText, shownState } from '../facts/names.ts'
import type { Finding } from '../facts/searches.ts'

/** The columns of the list of findings. */
export function findingColumns(org: string): Column<Finding>[] {
  return [
    {
      key: 'severity',
      header: 'Severity',
      width: '6.5rem',
      cell: ({ severity }) => <SeverityBadge severity={severity} />,
    },
    {
      key: 'finding',
      header: 'Finding',
      width: 'minmax(0, 3fr)',
      cell: (finding) => <FindingName org={org} finding={finding} />,
    },
    {
      key: 'scanner',
      header: 'Scanner',
      width: 'minmax(0, 1fr)',
      from: 'md',
      cell: ({ scanner }) => <Short text={scanner} />,
    },
    {
      key: 'branch',
      header: 'Branch',
      width: 'minmax(0, 1fr)',
      from: 'lg',
      cell: ({ git_ref }) => git_ref && <Short text={branchName(git_ref)} />,
    },
    { key: 'state', header: 'State', width: '7rem', cell: (finding) => <StatusBadge status={shownState(finding)} /> },
    {
      key: 'seen',
      header: 'First seen',
      width: '7.5rem',
      from: 'xs',
      align: 'end',
      cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    },
  ]
}

/** `refs/heads/main` is the branch main. */
export function branchName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}

function FindingName({ org, finding }: { org: string; finding: Finding }) {
  const { id, title, repository, rule_id, preview } = finding
  const about = [
    oneLine(repository, 120),
    placeText(finding),
    rule_id && oneLine(rule_id, 80),
    preview && 'Preview',
  ].filter(Boolean)
  return (
    <Stack gap={0}>
      <Link {...pages.finding(org, id)} fw={500} size="sm" truncate>
        <bdi>{oneLine(title, 300) || 'Untitled'}</bdi>
      </Link>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{about.join(' · ')}</bdi>
      </Text>
    </Stack>
  )
}

function Short({ text }: { text: string }) {
  return (
    <Text size="sm" truncate>
      <bdi>{oneLine(text, 100)}</bdi>
    </Text>
  )
}
