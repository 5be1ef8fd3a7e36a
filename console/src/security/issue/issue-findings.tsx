import { Button, List, Stack, Table, Text } from '@mantine/core'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import type { CursorList } from '../../list/list-page.ts'
import { SeverityBadge, StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { ScrollBox, Section } from '../../page/sections.tsx'
import { LineSkeleton, Problem, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { nameOfSource, placeText } from '../facts/names.ts'
import type { Finding, Issue } from '../facts/searches.ts'
import { branchName } from '../findings/finding-columns.tsx'
import { countTargets } from '../triage/targets.ts'

const PATH = '/app/api/orgs/{org}/security/issues/{id}/explain'
const SHOWN_MAX = 20

const SHARED: Record<Match['on'], string> = {
  vulnerability: 'the vulnerability',
  rule: 'the rule',
  secret: 'the secret',
  secret_and_lines: 'the secret and the lines',
  fingerprint: 'the fingerprint',
  weakness_and_code: 'the weakness and the code',
  weakness_and_lines: 'the weakness and the lines',
  weakness_and_resource: 'the weakness and the resource',
}

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
      <Table fz="sm" miw={720} aria-label="Findings">
        <Table.Thead>
          <Table.Tr>
            {['Finding', 'Scanner', 'Branch', 'Severity', 'State', 'Last seen', 'Newest report'].map((name) => (
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
  const { id, title, scanner, git_ref, tracked, severity, state, last_seen_at, upload_id } = finding
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
      <Table.Td>
        {upload_id && (
          <Link
            {...pages.upload(org, upload_id)}
            size="sm"
            aria-label={`Upload with the newest report of ${oneLine(scanner, 80)}`}
          >
            Upload
          </Link>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

type Explanation = Schema<'IssueExplanation'>

type Member = Explanation['members'][number]

type Rejected = Explanation['rejected'][number]

/** Why findings are one issue, and why similar ones are not. */
export function Grouping({ issueId }: { issueId: string }) {
  const { slug: org } = useOrganization()
  const query = api.useQuery('get', PATH, { params: { path: { org, id: issueId } } })
  return (
    <Section title="Why this is one issue">
      <QueryView query={query} of="explanation">
        {({ data }) => <Explained explanation={data} />}
      </QueryView>
    </Section>
  )
}

function Explained({
  explanation: { members, member_count, rejected, rejected_count, is_current },
}: {
  explanation: Explanation
}) {
  return (
    <Stack gap="md">
      {member_count === 1 && (
        <Text size="sm" c="dimmed">
          It has one finding. Findings of other scanners or branches join when they are about the same problem.
        </Text>
      )}
      {!is_current && (
        <Text size="sm" c="dimmed">
          What is known has changed since: the findings are being grouped again.
        </Text>
      )}
      {member_count > 1 && (
        <List spacing="xs" size="sm" listStyleType="disc">
          {members.slice(0, SHOWN_MAX).map((member) => (
            <MemberReason key={member.finding_id} member={member} />
          ))}
        </List>
      )}
      {member_count > SHOWN_MAX && (
        <Text size="sm" c="dimmed">
          The others are in it for the same reasons.
        </Text>
      )}
      {rejected.length > 0 && <Similar rejected={rejected} count={rejected_count} />}
    </Stack>
  )
}

function MemberReason({ member: { finding_id: id, scanner, source, reason, matches } }: { member: Member }) {
  const { slug: org } = useOrganization()
  return (
    <List.Item>
      <Link {...pages.finding(org, id)} size="sm" underline="always">
        {oneLine(scanner, 80)} ({nameOfSource(source)})
      </Link>
      {': '}
      <bdi>{oneLine(reason.detail, 300)}</bdi>
      {matches.slice(0, 3).map((match) => (
        <Text key={`${match.code} ${match.value}`} size="xs" c="dimmed">
          <bdi>{oneLine(matchText(match), 300)}</bdi>
          {aliasText(match.alias_path) && <> {oneLine(aliasText(match.alias_path) ?? '', 300)}</>}
        </Text>
      ))}
    </List.Item>
  )
}

function Similar({ rejected, count }: { rejected: Rejected[]; count: number }) {
  const { slug: org } = useOrganization()
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Similar findings that belong to other issues{count > rejected.length && ', the first of them'}
      </Text>
      <List spacing="xs" size="sm" listStyleType="disc">
        {rejected.slice(0, SHOWN_MAX).map(({ finding_id, issue_id: id, scanner, detail }) => (
          <List.Item key={finding_id}>
            <Link {...pages.issue(org, id)} size="sm" underline="always">
              {oneLine(scanner, 80)}
            </Link>
            {': '}
            <bdi>{oneLine(detail, 300)}</bdi>
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}

type Match = Schema<'IssueExplanation'>['members'][number]['matches'][number]

/** What a finding shares with others of the issue. */
function matchText({ on, value, with_count }: Match): string {
  return `Shares ${SHARED[on]}${value === null ? '' : ` ${value}`} with ${countTargets('finding', with_count)}.`
}

/** By which names of a vulnerability two ids are the same. Null if they are the same id. */
function aliasText(path: Match['alias_path']): string | null {
  if (path.length === 0) return null
  return path.map(({ from, to, source }) => `${from} is ${to} according to ${source}.`).join(' ')
}
