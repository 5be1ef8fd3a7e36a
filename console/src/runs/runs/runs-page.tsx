import { Button, Group, Stack, Text } from '@mantine/core'
import { IconFilterOff, IconGitBranch, IconPlayerPlay } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, PeriodFilter, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { PersonName, StatusBadge, statusLook, TrustBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { titleOf } from '../../page/reported-text.ts'
import { Empty } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { runsQuery } from '../facts/queries.ts'
import { AnomalyBadges, RunDuration } from '../facts/run-parts.tsx'
import { RUN_STATUSES } from '../facts/run-status.ts'

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

type Run = Schema<'PipelineRun'>

/** The columns of the list of runs. */
function runColumns(org: string): Column<Run>[] {
  return [
    { key: 'status', header: 'Status', width: '7.25rem', cell: ({ status }) => <StatusBadge status={status} /> },
    { key: 'run', header: 'Run', width: 'minmax(0, 4fr)', cell: (run) => <RunName org={org} run={run} /> },
    {
      key: 'branch',
      header: 'Branch',
      width: 'minmax(0, 1.2fr)',
      from: 'md',
      cell: ({ branch }) => <Branch name={branch} />,
    },
    {
      key: 'author',
      header: 'Author',
      width: 'minmax(0, 1.1fr)',
      from: 'lg',
      cell: ({ author_login, actor_login }) => {
        const name = author_login ?? actor_login
        return name && <PersonName name={name} />
      },
    },
    { key: 'trust', header: 'Trust', width: '12rem', from: 'lg', cell: (run) => <TrustBadge {...run} /> },
    {
      key: 'duration',
      header: 'Duration',
      width: '8.5rem',
      from: 'md',
      align: 'end',
      cell: (run) => <RunDuration {...run} />,
    },
    {
      key: 'started',
      header: 'Started',
      width: '8rem',
      align: 'end',
      cell: ({ started_at }) => <Time at={started_at} />,
    },
  ]
}

function RunName({ org, run }: { org: string; run: Run }) {
  const { id, repository_full_name, workflow_name, run_number, anomaly_reasons } = run
  return (
    <Stack gap={0}>
      <Group gap={8} wrap="nowrap">
        <Link {...pages.run(org, id)} fw={500} size="sm" truncate title={titleOf(run)}>
          <bdi>{titleOf(run)}</bdi>
        </Link>
        <AnomalyBadges reasons={anomaly_reasons} />
      </Group>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{repository_full_name}</bdi> · <bdi>{workflow_name}</bdi> {run_number !== null && `#${run_number}`}
      </Text>
    </Stack>
  )
}

function Branch({ name }: { name: string | null }) {
  if (name === null) return null
  return (
    <Group gap={4} wrap="nowrap" c="dimmed">
      <IconGitBranch size={14} aria-hidden style={{ flex: 'none' }} />
      <Text span size="sm" truncate title={name}>
        <bdi>{name}</bdi>
      </Text>
    </Group>
  )
}
