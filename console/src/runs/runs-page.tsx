import { Button, Text } from '@mantine/core'
import { IconFilterOff, IconPlayerPlay } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../api/session.ts'
import { DataList } from '../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../list/filters.tsx'
import { useCursorList, useListPage } from '../list/list-page.ts'
import { PeriodFilter } from '../list/period-filter.tsx'
import { RepositoryFilter } from '../list/repository-filter.tsx'
import { statusLook } from '../page/badges.tsx'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { Empty } from '../page/states.tsx'
import { formatTime } from '../page/time.tsx'
import { runsQuery } from './routes.ts'
import { runColumns } from './run-columns.tsx'
import { RUN_STATUSES } from './run-status.ts'

const route = getRouteApi('/signed-in/orgs/$org/runs')
const STATUSES = RUN_STATUSES.map((status) => ({ value: status, label: statusLook(status).label }))

/** The pipeline runs of every source, newest first. */
export function RunsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { status, repository, branch } = search
  const list = useCursorList(runsQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  const clamp = list.first?.meta
  return (
    <Page title="Runs" description="The CI runs of every repository, newest first.">
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter label="Status" value={status} options={STATUSES} onChange={(status) => filter({ status })} />
        <RepositoryFilter value={repository} onChange={(repository) => filter({ repository, branch: undefined })} />
        <TextFilter
          label="Branch"
          placeholder={repository ? 'main' : 'Choose a repository first'}
          disabled={!repository}
          value={repository && branch}
          onChange={(branch) => filter({ branch })}
        />
        <PeriodFilter value={search} onChange={filter} />
      </Filters>
      {clamp?.retention_clamped && (
        <Text size="sm" c="dimmed">
          Runs before {formatTime(clamp.since)} are no longer shown, because your plan has ended their retention.
        </Text>
      )}
      <DataList
        of="runs"
        list={list}
        columns={runColumns(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.run(org, id))}
        empty={isFiltered ? <NothingFound onClear={clear} /> : <NoRuns />}
      />
    </Page>
  )
}

function NothingFound({ onClear }: { onClear: () => void }) {
  return (
    <Empty
      icon={IconFilterOff}
      title="No runs match the filters"
      actions={<Button onClick={onClear}>Show all runs</Button>}
    >
      Names of repositories and branches are matched exactly.
    </Empty>
  )
}

function NoRuns() {
  return (
    <Empty icon={IconPlayerPlay} title="No runs">
      Connect a code host in the settings to see its runs, or report runs from your CI with the Shiplock action or the{' '}
      <code>shiplock run start</code> command.
    </Empty>
  )
}
