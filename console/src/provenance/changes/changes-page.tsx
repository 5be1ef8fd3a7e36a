import { Button, Stack, Text } from '@mantine/core'
import { IconFilterOff, IconGitMerge } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, PeriodFilter, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { PersonName } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { isWholeSha } from '../../page/repository.tsx'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import {
  authorOf,
  DEVIATION_WORDS,
  DEVIATIONS,
  LANDED_BY_NAMES,
  type ListedChange,
  titleOf,
} from '../facts/change-words.ts'
import { DeviationBadges, ProvenanceTabs } from '../facts/provenance-parts.tsx'
import { changesQuery } from '../facts/queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/provenance')

const DEVIATION_OPTIONS = DEVIATIONS.map((value) => ({ value, label: DEVIATION_WORDS[value][0] }))

/** What landed on tracked branches, newest first. */
export function ChangesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { repository, branch, deviation, commit } = search
  const list = useCursorList(changesQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  return (
    <Page
      title="Provenance"
      description="What landed on tracked branches: who wrote it, who reviewed it, and how it deviates from a reviewed and checked merge."
    >
      <ProvenanceTabs org={org} />
      <Filters isFiltered={isFiltered} onClear={clear}>
        <RepositoryFilter value={repository} onChange={(repository) => filter({ repository })} />
        <TextFilter label="Branch" placeholder="main" value={branch} onChange={(branch) => filter({ branch })} />
        <ChoiceFilter
          label="Deviation"
          value={deviation}
          options={DEVIATION_OPTIONS}
          onChange={(deviation) => filter({ deviation })}
        />
        <TextFilter
          label="Commit"
          placeholder="Whole SHA"
          value={commit}
          onChange={(commit) => filter({ commit: commit?.toLowerCase() })}
        />
        <PeriodFilter value={search} onChange={filter} />
      </Filters>
      {commit !== undefined && !isWholeSha(commit) && (
        <Text size="sm" role="status">
          Write all 40 digits of the commit’s SHA to filter by it.
        </Text>
      )}
      <DataList
        of="changes"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.change(org, id))}
        empty={isFiltered ? <NothingFound onClear={clear} /> : <NoChanges org={org} />}
      />
    </Page>
  )
}

function NothingFound({ onClear }: { onClear: () => void }) {
  return (
    <Empty
      icon={IconFilterOff}
      title="No changes match the filters"
      actions={<Button onClick={onClear}>Show all changes</Button>}
    />
  )
}

function NoChanges({ org }: { org: string }) {
  return (
    <Empty
      icon={IconGitMerge}
      title="No changes"
      actions={<ButtonLink {...pages.settings(org)}>Open settings</ButtonLink>}
    >
      A change is recorded when a pull request or a push lands on the tracked branch of a connected repository. Connect
      a code host to record changes.
    </Empty>
  )
}

function columnsOf(org: string): Column<ListedChange>[] {
  return [
    {
      key: 'change',
      header: 'Change',
      width: 'minmax(0, 3fr)',
      cell: (change) => (
        <Stack gap={0}>
          <Link {...pages.change(org, change.id)} fw={500} size="sm" truncate title={titleOf(change)}>
            <bdi>{titleOf(change)}</bdi>
          </Link>
          <Text size="xs" c="dimmed" truncate>
            {change.repository.full_name}
            {change.pull_request && ` #${change.pull_request.number}`} · {change.branch} ·{' '}
            {LANDED_BY_NAMES[change.landed_by]}
          </Text>
        </Stack>
      ),
    },
    {
      key: 'deviations',
      header: 'Deviations',
      width: 'minmax(0, 2fr)',
      cell: ({ deviations }) => <DeviationBadges deviations={deviations} />,
    },
    {
      key: 'author',
      header: 'Author',
      width: 'minmax(0, 1fr)',
      from: 'md',
      cell: (change) => <PersonName name={authorOf(change) ?? 'Deleted account'} />,
    },
    {
      key: 'landed',
      header: 'Landed',
      width: '8rem',
      align: 'end',
      cell: ({ landed_at }) => <Time at={landed_at} />,
    },
  ]
}
