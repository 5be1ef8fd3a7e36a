import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconGitBranch, IconPlugConnected } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ButtonLink } from '../../page/link.tsx'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { ConnectMenu } from '../connect/connect-menu.tsx'
import { CODE_HOSTS_PATH, WAITING_PATH, type WaitingInstallation } from '../connect/connection.ts'
import { connectionsQuery } from '../connect/queries.ts'
import { ConnectionCard } from './connection-card.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/code-hosts')

/** Nobody is told when an installation begins to wait, because it belongs to no organization yet. */
const WAITING_MS = 10_000

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

type WaitingInstallationsProps = {
  /** The installation with which the code host has sent the browser back. */
  returned: string | undefined
}

/** The installations of the App that can be connected. */
function WaitingInstallations({ returned }: WaitingInstallationsProps) {
  const { slug: org } = useOrganization()
  const query = api.useQuery('get', WAITING_PATH, { params: { path: { org } } }, { refetchInterval: WAITING_MS })
  const waiting = query.data?.data ?? []
  const isKnown = waiting.some(({ id }) => id === returned)
  const shown = returned === undefined || isKnown ? waiting : [unknownInstallation(returned), ...waiting]
  if (query.data === undefined || shown.length === 0) return null
  return (
    <Stack component="section" gap="sm" aria-label="Ready to connect">
      <Title order={2}>Ready to connect</Title>
      {shown.map((installation) => (
        <Installation key={installation.id} installation={installation} />
      ))}
    </Stack>
  )
}

/** GitHub sends the browser back faster than its event, or cannot send events to this server. */
function unknownInstallation(id: string): WaitingInstallation {
  return { id, provider: 'github', host: 'github.com', account: null, repositories: null, last_event_at: null }
}

function Installation({ installation }: { installation: WaitingInstallation }) {
  const { id, provider, account, repositories, last_event_at } = installation
  const [isBusy, setBusy] = useState(false)
  const connect = useConnect()
  const name = account?.login ?? `Installation ${id}`
  const send = async () => {
    setBusy(true)
    await connect(installation, name)
    setBusy(false)
  }
  return (
    <Paper p="md">
      <Group justify="space-between">
        <Stack gap={0}>
          <Text fw={500}>{name}</Text>
          <Text size="sm" c="dimmed" component="div">
            {PROVIDER_NAMES[provider]}
            {account && ` · ${account.type}`}
            {repositories && ` · ${repositories === 'all' ? 'all repositories' : 'selected repositories'}`}
            {last_event_at && (
              <>
                {' · last event '}
                <Time at={last_event_at} />
              </>
            )}
          </Text>
        </Stack>
        <Button
          leftSection={<IconPlugConnected size={16} aria-hidden />}
          loading={isBusy}
          onClick={send}
          aria-label={`Connect ${name}`}
        >
          Connect
        </Button>
      </Group>
    </Paper>
  )
}

function useConnect() {
  const { slug: org } = useOrganization()
  const { mutateAsync: connect } = useApiMutation('post', CODE_HOSTS_PATH, ['code_host'])
  const navigate = useNavigate()
  return async ({ id, provider }: WaitingInstallation, name: string) => {
    try {
      const body = { provider, installation_id: id }
      const { data } = await connect({ params: { path: { org } }, body })
      notifyDone(`Connected ${data.account.login}. The import has started.`)
      await navigate({ ...pages.codeHosts(org), replace: true })
    } catch (error) {
      notifyFailed(`${name} could not be connected`, error)
    }
  }
}
