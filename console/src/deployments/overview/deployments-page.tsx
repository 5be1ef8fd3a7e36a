import { SegmentedControl, Stack, Text } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, PeriodFilter, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { PersonName } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { DeploymentStateBadge, NoDeployments } from '../facts/deployment-parts.tsx'
import {
  DEPLOYMENT_STATUSES,
  type Deployment,
  fullStateOf,
  STATUS_NAMES,
  versionOf,
} from '../facts/deployment-state.ts'
import { deploymentsQuery } from '../facts/queries.ts'
import { BoardView } from './board-view.tsx'
import classes from './deployments-page.module.css'

const route = getRouteApi('/signed-in/orgs/$org/deployments')
const STATUSES = DEPLOYMENT_STATUSES.map((value) => ({ value, label: STATUS_NAMES[value] }))

/** What runs where and what waits: as a board, or as a list of all deployments. */
export function DeploymentsPage() {
  const { view } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page
      title="Deployments"
      description={
        view === 'list'
          ? 'Every deployment, newest first.'
          : 'What runs in each environment of each repository, and what waits.'
      }
      actions={
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={view ?? 'board'}
          data={[
            { value: 'board', label: 'Board' },
            { value: 'list', label: 'List' },
          ]}
          onChange={(chosen) => void navigate({ search: chosen === 'list' ? { view: 'list' } : {} })}
        />
      }
    >
      {view === 'list' ? <DeploymentList /> : <BoardView />}
    </Page>
  )
}

/** Every deployment, newest first, with all filters of the API. */
function DeploymentList() {
  const { slug: org } = useOrganization()
  const { status, environment, repository, workflow, workflow_path, commit, since, until } = route.useSearch()
  const filters = { status, environment, repository, workflow, workflow_path, commit, since, until }
  const navigate = route.useNavigate()
  const list = useCursorList(deploymentsQuery(org, filters))
  const { isFiltered, filter, clear } = useListPage(filters)
  const clamp = list.first?.meta
  return (
    <>
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter label="Status" value={status} options={STATUSES} onChange={(status) => filter({ status })} />
        <TextFilter
          label="Environment"
          placeholder="production"
          value={environment}
          onChange={(environment) => filter({ environment })}
        />
        <RepositoryFilter value={repository} onChange={(repository) => filter({ repository })} />
        <TextFilter label="Workflow" value={workflow} onChange={(workflow) => filter({ workflow })} />
        <TextFilter
          label="Workflow file"
          placeholder=".github/workflows/deploy.yml"
          value={workflow_path}
          onChange={(workflow_path) => filter({ workflow_path })}
        />
        <TextFilter
          label="Commit"
          placeholder="Whole SHA"
          value={commit}
          onChange={(commit) => filter({ commit: commit?.trim().toLowerCase() })}
        />
        <PeriodFilter value={filters} onChange={filter} />
      </Filters>
      {clamp?.retention_clamped && since !== undefined && (
        <Text size="sm" c="dimmed">
          Deployments before {formatTime(clamp.since)} are no longer shown, because your plan has ended their retention.
        </Text>
      )}
      <DataList
        of="deployments"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.deployment(org, id))}
        empty={isFiltered ? <NothingFound /> : <NoDeployments />}
      />
    </>
  )
}

function columnsOf(org: string): Column<Deployment>[] {
  return [
    {
      key: 'state',
      header: 'State',
      width: 'minmax(0, 1.3fr)',
      cell: (deployment) => <DeploymentStateBadge state={fullStateOf(deployment)} />,
    },
    {
      key: 'deployment',
      header: 'Deployment',
      width: 'minmax(0, 3fr)',
      cell: ({ id, repository_full_name, environment, workflow_name, commit_message }) => (
        <Stack gap={0}>
          <Link {...pages.deployment(org, id)} fw={500} size="sm" className={classes.name}>
            <bdi className={classes.repository}>{repository_full_name}</bdi>
            <span className={classes.environment}>
              &nbsp;to <bdi>{environment}</bdi>
            </span>
          </Link>
          <Text size="xs" c="dimmed" truncate>
            {[workflow_name, commit_message].filter(Boolean).join(' · ')}
          </Text>
        </Stack>
      ),
    },
    {
      key: 'version',
      header: 'Version',
      width: 'minmax(0, 1.2fr)',
      from: 'md',
      cell: (deployment) => (
        <Text size="sm" truncate>
          {versionOf(deployment)}
          {deployment.branch && (
            <Text span size="xs" c="dimmed">
              {` ${deployment.branch}`}
            </Text>
          )}
        </Text>
      ),
    },
    {
      key: 'author',
      header: 'Author',
      width: 'minmax(0, 1.1fr)',
      from: 'lg',
      cell: ({ author }) => author && <PersonName name={author} />,
    },
    {
      key: 'created',
      header: 'Created',
      width: '8rem',
      align: 'end',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ]
}

function NothingFound() {
  return (
    <Empty icon={IconFilterOff} title="No deployments match the filters">
      Names of environments, repositories and workflows, and commits, are matched exactly.
    </Empty>
  )
}
