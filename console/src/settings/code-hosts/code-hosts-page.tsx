import { Stack } from '@mantine/core'
import { IconGitBranch } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { ButtonLink } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { QueryView } from '../../page/query-view.tsx'
import { Empty } from '../../page/states.tsx'
import { ConnectMenu } from './connect-menu.tsx'
import { CODE_HOSTS_PATH, type Connection } from './connection.ts'
import { ConnectionCard } from './connection-card.tsx'
import { WaitingInstallations } from './waiting-installations.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/code-hosts')
/** The events of a synchronization tell its end. Its progress is asked for. */
const PROGRESS_MS = 2000

/** The accounts on code hosts from which runs, deployments and alerts come. */
export function CodeHostsPage() {
  const { slug: org } = useOrganization()
  const { installation } = route.useSearch()
  const query = api.useQuery(
    'get',
    CODE_HOSTS_PATH,
    { params: { path: { org } } },
    { refetchInterval: ({ state }) => (state.data?.data.some(isRunning) ? PROGRESS_MS : false) },
  )
  const connected = query.data?.data.filter(({ status }) => status !== 'removed') ?? []
  return (
    <Page
      title="Code hosts"
      description="Connected accounts send their runs, deployments and alerts, and can ask Shiplock before they deploy."
      actions={
        <>
          <ButtonLink to="/orgs/$org/settings/code-hosts/deliveries" params={{ org }}>
            Deliveries
          </ButtonLink>
          {connected.length > 0 && <ConnectMenu variant="default" />}
        </>
      }
    >
      <Stack gap="xl">
        <WaitingInstallations returned={installation} />
        <QueryView query={query} of="connections">
          {() =>
            connected.length === 0 ? (
              <Empty icon={IconGitBranch} title="No code host is connected" actions={<ConnectMenu />}>
                GitHub, GitLab, Bitbucket or Azure DevOps. Shiplock reads the runs, deployments, pull requests and
                alerts of the account. Nothing goes through a service of ours.
              </Empty>
            ) : (
              <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Connections">
                {connected.map((connection) => (
                  <ConnectionCard key={connection.id} connection={connection} />
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
    </Page>
  )
}

function isRunning({ sync }: Connection): boolean {
  return sync.state === 'running'
}
