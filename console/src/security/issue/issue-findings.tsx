import { Button, Table, Text } from '@mantine/core'
import { useOrganization } from '../../api/session.ts'
import type { CursorList } from '../../list/list-page.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { LineSkeleton } from '../../page/query-view.tsx'
import { oneLine } from '../../page/reported-text.ts'
import { ScrollBox } from '../../page/scroll-box.tsx'
import { Section } from '../../page/section.tsx'
import { Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { placeText } from '../facts/place-text.ts'
import { branchName } from '../findings/finding-columns.tsx'
import type { Finding } from '../findings/finding-search.ts'
import type { Issue } from '../issues/issue-search.ts'

/** What each scanner reported of the issue, on each branch. */
export function IssueFindings({ issue, findings }: { issue: Issue; findings: CursorList<Finding> }) {
  return (
    <Section title="Findings" count={issue.member_count}>
      <FindingsTable findings={findings} />
      {findings.hasMore && (
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          loading={findings.isLoadingMore}
          onClick={findings.loadMore}
        >
          Load more findings
        </Button>
      )}
    </Section>
  )
}

function FindingsTable({ findings: { rows, error, refresh } }: { findings: CursorList<Finding> }) {
  if (rows === undefined)
    return error ? (
      <Problem error={error} title="The findings could not be loaded" retry={refresh} />
    ) : (
      <LineSkeleton lines={4} />
    )
  return (
    <ScrollBox label="Findings of the issue">
      <Table fz="sm" miw={620} aria-label="Findings">
        <Table.Thead>
          <Table.Tr>
            {['Finding', 'Scanner', 'Branch', 'Severity', 'State', 'Last seen'].map((name) => (
              <Table.Th key={name} scope="col">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((finding) => (
            <FindingRow key={finding.id} finding={finding} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}

function FindingRow({ finding }: { finding: Finding }) {
  const { slug: org } = useOrganization()
  const { id, title, scanner, git_ref, tracked, severity, state, last_seen_at } = finding
  return (
    <Table.Tr>
      <Table.Td>
        <Link {...pages.finding(org, id)} size="sm" lineClamp={2}>
          <bdi>{placeText(finding) ?? oneLine(title, 200)}</bdi>
        </Link>
      </Table.Td>
      <Table.Td>{oneLine(scanner, 80)}</Table.Td>
      <Table.Td>
        {git_ref && oneLine(branchName(git_ref), 100)}
        {!tracked && (
          <Text size="xs" c="dimmed">
            not tracked
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <SeverityBadge severity={severity} />
      </Table.Td>
      <Table.Td>
        <StatusBadge status={state} />
      </Table.Td>
      <Table.Td>
        <Time at={last_seen_at} />
      </Table.Td>
    </Table.Tr>
  )
}
