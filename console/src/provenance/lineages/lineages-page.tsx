import { Button, Stack, Text } from '@mantine/core'
import { IconFilterOff, IconRoute } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { Filters, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { shortSha } from '../facts/change-words.ts'
import { ProvenanceTabs } from '../facts/provenance-parts.tsx'
import { lineagesQuery } from '../facts/queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/provenance/lineage')

type Deployment = Schema<'Deployment'>

/** The deployments that succeeded, each with the way of its commit. */
export function LineagesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { repository, environment } = search
  const list = useCursorList(lineagesQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  return (
    <Page title="Lineage" description="How the commits of successful deployments came to their environments.">
      <ProvenanceTabs org={org} />
      <Filters isFiltered={isFiltered} onClear={clear}>
        <RepositoryFilter value={repository} onChange={(repository) => filter({ repository })} />
        <TextFilter
          label="Environment"
          placeholder="production"
          value={environment}
          onChange={(environment) => filter({ environment })}
        />
      </Filters>
      <DataList
        of="deployments"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.lineage(org, id))}
        empty={
          isFiltered ? (
            <Empty
              icon={IconFilterOff}
              title="No deployments match the filters"
              actions={<Button onClick={clear}>Show all deployments</Button>}
            />
          ) : (
            <Empty icon={IconRoute} title="No deployments">
              A deployment that succeeded appears here, with everything that led to it.
            </Empty>
          )
        }
      />
    </Page>
  )
}

function columnsOf(org: string): Column<Deployment>[] {
  return [
    { key: 'status', header: 'Status', width: '8rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'deployment',
      header: 'Deployment',
      width: 'minmax(0, 3fr)',
      cell: ({ id, repository_full_name, environment, commit_message }) => (
        <Stack gap={0}>
          <Link {...pages.lineage(org, id)} fw={500} size="sm" truncate>
            <bdi>
              {repository_full_name} in {environment}
            </bdi>
          </Link>
          <Text size="xs" c="dimmed" truncate>
            {commit_message}
          </Text>
        </Stack>
      ),
    },
    {
      key: 'commit',
      header: 'Commit',
      width: '6rem',
      from: 'md',
      cell: ({ commit_sha }) => commit_sha && <code>{shortSha(commit_sha)}</code>,
    },
    {
      key: 'deployed',
      header: 'Deployed',
      width: '8rem',
      align: 'end',
      cell: ({ deployed_at, created_at }) => <Time at={deployed_at ?? created_at} />,
    },
  ]
}
