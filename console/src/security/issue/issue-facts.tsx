import { Stack } from '@mantine/core'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { Facts } from '../../page/facts.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Section } from '../../page/section.tsx'
import { Time } from '../../page/time.tsx'
import { CodePlace } from '../facts/code-place.tsx'
import { nameOfSource } from '../facts/names.ts'
import type { Issue } from '../issues/issue-search.ts'

type IssueFactsProps = {
  issue: Issue
  /** A finding of the issue, which tells the commit. */
  lead: Schema<'Finding'> | undefined
}

/** Where the problem is, and who reports it. */
export function IssueFacts({ issue, lead }: IssueFactsProps) {
  const { slug: org } = useOrganization()
  const { location, repository, provider, package_name, purl, resource_name, sources, split_from } = issue
  const place = { ...issue, commit_sha: lead?.commit_sha ?? null, git_ref: lead?.git_ref ?? null }
  return (
    <Section title="Details">
      {location && <CodePlace finding={place} />}
      <Facts
        facts={[
          [
            'Repository',
            <Link
              key="repository"
              {...pages.issues(org)}
              search={{ repository, provider: provider ?? undefined, status: 'open' }}
              size="sm"
            >
              <bdi>{oneLine(repository, 200)}</bdi>
            </Link>,
          ],
          ['Package', package_name && oneLine(`${package_name} ${issue.package_version ?? ''}`, 200)],
          ['Package URL', purl && <code>{oneLine(purl, 250)}</code>],
          ['Resource', resource_name && oneLine(resource_name, 200)],
          ['Scanners', <Sources key="sources" sources={sources} />],
          ['First seen', <Time key="first" at={issue.first_seen_at} />],
          ['Last seen', <Time key="last" at={issue.last_seen_at} />],
          ['Split from', split_from && <IssueLinkById org={org} id={split_from} />],
        ]}
      />
    </Section>
  )
}

function Sources({ sources }: { sources: Issue['sources'] }) {
  return (
    <Stack gap={0}>
      {sources.slice(0, 10).map(({ source, scanner, count, open }) => (
        <span key={`${source} ${scanner}`}>
          {oneLine(scanner, 80)} ({nameOfSource(source)}): {formatCount(open)} of {formatCount(count)} open
        </span>
      ))}
    </Stack>
  )
}

function IssueLinkById({ org, id }: { org: string; id: string }) {
  return (
    <Link {...pages.issue(org, id)} size="sm">
      Another issue
    </Link>
  )
}
