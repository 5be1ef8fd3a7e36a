import { List, Stack, Text } from '@mantine/core'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/query-view.tsx'
import { oneLine } from '../../page/reported-text.ts'
import { Section } from '../../page/section.tsx'
import { nameOfSource } from '../facts/names.ts'
import { aliasText, matchText } from './grouping-text.ts'

type Explanation = Schema<'IssueExplanation'>
type Member = Explanation['members'][number]
type Rejected = Explanation['rejected'][number]

const PATH = '/app/api/orgs/{org}/security/issues/{id}/explain'
const SHOWN_MAX = 20

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
