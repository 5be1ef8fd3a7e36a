import { Stack } from '@mantine/core'
import { IconGitBranch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { ButtonLink } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/query-view.tsx'
import { Empty } from '../../page/states.tsx'
import { ConnectMenu } from './connect-menu.tsx'
import { ConnectionCard } from './connection-card.tsx'
import { connectionsQuery } from './routes.ts'
import { WaitingInstallations } from './waiting-installations.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/code-hosts')

/** The accounts on code hosts from which runs, deployments and alerts come. */
export function CodeHostsPage() {
  const { slug: org } = useOrganization()
  const { installation } = route.useSearch()
  const query = useQuery(connectionsQuery(org))
  const connected = query.data?.data.filter(({ status }) => status !== 'removed') ?? []
  return (
    <Page
      title="Code hosts"
      description="Connected accounts send their runs, deployments and alerts, and can ask Shiplock before they deploy."
      actions={
        <>
          <ButtonLink {...pages.deliveries(org)}>Deliveries</ButtonLink>
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
