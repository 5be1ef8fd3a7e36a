import { Stack, Text } from '@mantine/core'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { useCursorList } from '../../list/list-page.ts'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { CommitLink, RepositoryLink } from '../../page/repository.tsx'
import { Section } from '../../page/sections.tsx'
import { Time } from '../../page/time.tsx'
import { directText, LANE_NAMES } from '../facts/inventory-words.ts'
import { occurrencesQuery } from '../facts/queries.ts'

type Occurrence = Schema<'ComponentOccurrence'>

/** Where a component is, and where it was. */
export function OccurrenceList({ id }: { id: string }) {
  const { slug: org } = useOrganization()
  const list = useCursorList(occurrencesQuery(org, id))
  return (
    <Section title="Where it is, and was">
      <DataList
        of="occurrences"
        list={list}
        columns={occurrenceColumns(org)}
        rowKey={(occurrence) => JSON.stringify(occurrence)}
        empty={
          <Text size="sm" c="dimmed">
            No stored document contains it any more.
          </Text>
        }
      />
    </Section>
  )
}

function occurrenceColumns(org: string): Column<Occurrence>[] {
  return [
    {
      key: 'place',
      header: 'Repository',
      width: 'minmax(0, 2.5fr)',
      cell: (occurrence) => <Place occurrence={occurrence} />,
    },
    {
      key: 'document',
      header: 'Document',
      width: 'minmax(0, 2fr)',
      cell: (occurrence) => <Document org={org} occurrence={occurrence} />,
    },
    {
      key: 'dependency',
      header: 'Dependency',
      width: '6.5rem',
      from: 'md',
      cell: ({ direct, scope }) => (
        <Text size="sm">
          {directText(direct)}
          {scope !== null && scope !== 'required' && (
            <Text span size="xs" c="dimmed" display="block">
              {oneLine(scope, 20)}
            </Text>
          )}
        </Text>
      ),
    },
    {
      key: 'first',
      header: 'First seen',
      width: '7.5rem',
      from: 'lg',
      align: 'end',
      cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    },
    {
      key: 'state',
      header: 'Present',
      width: '9.5rem',
      align: 'end',
      cell: ({ removed_at, last_seen_at }) => (
        <Text size="sm" c={removed_at === null ? undefined : 'dimmed'}>
          {removed_at === null ? 'Seen ' : 'Removed '}
          <Time at={removed_at ?? last_seen_at} />
        </Text>
      ),
    },
  ]
}

function Place({ occurrence: { repository, provider, git_ref, tracked, path } }: { occurrence: Occurrence }) {
  const branch = git_ref === null ? 'No branch stated' : oneLine(git_ref.replace(/^refs\/heads\//, ''), 100)
  return (
    <Stack gap={0}>
      <Text size="sm" truncate component="div">
        <RepositoryLink name={repository} provider={provider} />
      </Text>
      <Text size="xs" c="dimmed" truncate title={path ?? undefined}>
        <bdi>{branch}</bdi>
        {!tracked && ', not tracked'}
        {path !== null && (
          <>
            {' · '}
            <bdi>{oneLine(path, 200)}</bdi>
          </>
        )}
      </Text>
    </Stack>
  )
}

/** Which documents have it, who sent them, and where they are. */
function Document({ org, occurrence }: { org: string; occurrence: Occurrence }) {
  const { category, lane, run_id, repository, provider, commit_sha } = occurrence
  return (
    <Stack gap={0}>
      <Text size="sm" component="div">
        {category === null ? 'No category' : <bdi>{oneLine(category, 80)}</bdi>}
        {' · '}
        {run_id === null ? (
          <Link {...pages.uploads(org)} search={{ repository }} size="sm" underline="always">
            Uploads
          </Link>
        ) : (
          <Link {...pages.run(org, run_id)} size="sm" underline="always">
            Run
          </Link>
        )}
        {commit_sha !== null && (
          <>
            {' · '}
            <CommitLink {...occurrence} provider={provider} sha={commit_sha} />
          </>
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {LANE_NAMES[lane]}
      </Text>
    </Stack>
  )
}
