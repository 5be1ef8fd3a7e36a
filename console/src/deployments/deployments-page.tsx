import { SegmentedControl } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../page/page.tsx'
import { BoardView } from './board-view.tsx'
import { DeploymentList } from './deployment-list.tsx'

const route = getRouteApi('/signed-in/orgs/$org/deployments')

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
