import { Stack, Text } from '@mantine/core'
import type { Column } from '../../list/data-list.tsx'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Time } from '../../page/time.tsx'
import { placeText } from '../facts/place-text.ts'
import { Signals } from '../facts/signals.tsx'
import type { Issue, IssueSearch } from './issue-search.ts'

type Sort = NonNullable<IssueSearch['sort']>

/** The columns of the list of issues. */
export function issueColumns(org: string, sort: Sort, onSort: (sort: Sort) => void): Column<Issue>[] {
  const by = (own: Sort) => ({ isSorted: sort === own, onSort: () => onSort(own) })
  return [
    {
      key: 'severity',
      header: 'Severity',
      width: '6.5rem',
      sort: by('severity'),
      cell: ({ severity }) => <SeverityBadge severity={severity} />,
    },
    { key: 'issue', header: 'Issue', width: 'minmax(0, 3fr)', cell: (issue) => <IssueName org={org} issue={issue} /> },
    {
      key: 'exploitation',
      header: 'Exploitation',
      width: '11rem',
      from: 'md',
      sort: by('epss'),
      cell: ({ intel }) => <Signals intel={intel} />,
    },
    {
      key: 'findings',
      header: 'Findings',
      width: '4.5rem',
      from: 'lg',
      align: 'end',
      cell: ({ member_count }) => formatCount(member_count),
    },
    { key: 'status', header: 'Status', width: '7rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'seen',
      header: 'First seen',
      width: '7.5rem',
      align: 'end',
      sort: by('newest'),
      cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    },
  ]
}

function IssueName({ org, issue }: { org: string; issue: Issue }) {
  const { id, title, repository, vuln_ids, intel } = issue
  const about = [oneLine(repository, 120), placeText(issue), intel.canonical_id ?? vuln_ids[0]].filter(Boolean)
  return (
    <Stack gap={0}>
      <Link {...pages.issue(org, id)} fw={500} size="sm" truncate>
        <bdi>{oneLine(title, 300) || 'Untitled'}</bdi>
      </Link>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{about.join(' · ')}</bdi>
      </Text>
    </Stack>
  )
}
